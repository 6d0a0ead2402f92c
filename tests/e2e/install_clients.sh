#!/bin/sh
# Install the two clients and the MCP inspector that tests drive, at the versions whose contracts they check:
#     sh tests/e2e/install_clients.sh DIR && export AI_CLIENTS_DIR=DIR
# npm may hold back install scripts by policy, so none is run by npm; the one that is needed (it puts the native
# binary in its place) is run by hand, and may be run again.
set -eu
dir=${1:?usage: install_clients.sh DIR}
mkdir -p "$dir"
npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --no-save \
    @anthropic-ai/claude-code@2.1.197 @openai/codex@0.171.0 @modelcontextprotocol/inspector@0.15.0
node "$dir/node_modules/@anthropic-ai/claude-code/install.cjs"
"$dir/node_modules/.bin/claude" --version
"$dir/node_modules/.bin/codex" --version
test -x "$dir/node_modules/.bin/mcp-inspector"
