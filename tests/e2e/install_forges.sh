#!/bin/sh
# Install what hosts publish of their APIs, against which tests check our calls, at fixed versions:
#     sh tests/e2e/install_forges.sh DIR && export FORGES_DIR=DIR
# GitHub's OpenAPI description with the mock server that serves it, and the client that is generated from Gitea's.
set -eu
dir=${1:?usage: install_forges.sh DIR}
mkdir -p "$dir"
npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --no-save \
    @octokit/openapi@23.0.2 @stoplight/prism-cli@5.16.0 gitea-js@1.23.0
rm -f "$dir"/node_modules/@octokit/openapi/generated/*.deref.json  # most of the room, and nobody reads them
test -x "$dir/node_modules/.bin/prism"
