"""What a sentence does, by its form: names a cause, states a law, measures, guesses, narrates, offers, reports.

Each flag says why it matters. None knows a product, a language of code or a project.
"""

from __future__ import annotations

from functools import lru_cache

from commonwealth.capture.forms import assistant_forms, guessing, outside_brackets, shape, user_forms
from commonwealth.capture.lexicon import Lexicon, words_of

ENGLISH = {
    # Why something is so: what a reader of the code cannot see.
    "cause": "because|cause is|cause was|cause of|caused|turns it into|due to|caused by|the cause is|root cause|the "
    "issue is|the issue was|the problem is|the problem was|the reason|"
    "culprit|stems from|comes from|came from|come from|stemmed from|resulted from|which means|which is why|that's "
    "why|this is why|that is why|since|as a result|therefore|"
    "results in|resulting in|leads to|leading to|so that|otherwise|happens when|occurs when|fails when|which causes|"
    "causing|triggers|weil|deshalb|dadurch|daher|liegt daran|die ursache|das problem ist|das problem war|nämlich|"
    "porque|ya que|por eso|la causa|el problema es|"
    "debido a|parce que|car le|car la|la raison|le problème est|à cause|the bug is|the bug was|this means|that means|"
    "thus|hence|explains|as it|even though|is why|was why",
    # The speaker marks a finding as one.
    "found": "found it|found the|found that|important finding|key finding|key insight|turns out|it turns out|root "
    "cause|"
    "i see the issue|i see the problem|the real issue|the real problem|the actual issue|the actual problem|the "
    "actual cause|real cause|real reason|actual reason|underlying cause|underlying issue|points at|points to|"
    "now i understand the issue|confirmed|discovered|the culprit|mystery solved|that explains|this explains|crucial|"
    "key difference|this confirms|that confirms|proves|interestingly|surprisingly|notably|the catch|gotcha|caveat",
    # A law or limit: holds beyond this session.
    "law": "always|never|only|must|must not|requires|require|required|cannot|can't|doesn't|don't|does not|do not|"
    "isn't|is not|aren't|"
    "are not|won't|will not|unless|regardless|by default|defaults to|default|no longer|not supported|unsupported|"
    "ignores|"
    "ignored|silently|instead of|rather than|even when|even if|until|without|needs|need to be|has to|have to|expects|"
    "assumes|"
    "limited to|at most|at least|exactly|every time|whenever|wait* indefinitely|forever|refuses|rejects|blocks|"
    "overrides|"
    "immer|nie|niemals|muss|müssen|darf nicht|nur|standardmäßig|siempre|nunca|debe|solo|por defecto|toujours|jamais|"
    "doit|par défaut|"
    "drops|loses|overwrites|overflows|underflows|exceeds|hides|shadows|thrown away|throws away|leaks|falls back|fall "
    "back|evicts|swallows|truncates|stale|twice|deadlock*|"
    "takes precedence|depends on|relies on|guarantee*|per|neither|nor|not just|never gets",
    # Two things that one would have thought alike: what surprised.
    "contrast": "but|while|whereas|although|yet|however|even though|though|only when|only if|unlike|despite|aber|"
    "obwohl|während|sondern|pero|"
    "aunque|mientras|mais|alors que",
    # A choice with what it costs or avoids.
    "choice": "trade off|tradeoff|trade offs|at the cost|instead of|rather than|to avoid|to prevent|avoids|prevents|"
    "in favor of|"
    "in favour of|we chose|chose|decided|opted|prefer|preferred|simpler|safer|best effort|acceptable|worth it|so we "
    "use|i'll use|we'll use|"
    "so we|deliberate*|intentional*|by design|on purpose|workaround|work around|caps|capped|limit to|pinned|keeps|"
    "allows us",
    # A choice named as one: what the code shows, but not why.
    "chosen": "i chose|i've chosen|we chose|chose|i decided|opted for|went with|i went with|deliberate*|intentional*|"
    "by design|on purpose|"
    "trade off|tradeoff|trade offs|at the cost|the cost is|left as is|i'd leave|i reverted to|absichtlich|bewusst|a "
    "propósito",
    # What ended a problem.
    "remedy": "the fix|the solution|fixed by|fix is to|solved by|resolved by|the remedy|^fixed|is fixed|now fixed|"
    "been fixed|solves|resolves|resolved|workaround|"
    "work around|needs to be set|should be set|by setting|by adding|by using|by making|by moving|by passing|correct "
    "approach",
    # Not known: a guess must never read as a fact.
    "hedge": "wahrscheinlich|vermutlich|vielleicht|möglicherweise|anscheinend|könnte|scheint|ich glaube|ich denke|"
    "ich vermute|probablemente|quizá|quizás|tal vez|a lo mejor|podría|parece|creo que|sospecho|supongo|probablement|"
    "peut être|sans doute|semble|il se peut|je crois|je pense|je soupçonne|on dirait|"
    "might|may|maybe|perhaps|probably|likely|possibly|presumably|seems|seem|appears|appear|suspect|i think|"
    "i believe|i guess|"
    "could be|could also be|not sure|unclear|should be fine|in theory|theoretically|my guess|assuming|apparently|"
    "unsure|suspicion|unproven|not proven|can't prove|cannot prove|couldn't prove|"
    "must be in|looks like|look like|suggests|plausible|guess|hypothes*|potentially|potential|if i recall|i assume",
    # What the speaker is about to do, or does: no knowledge in it.
    "narration": "^let me|^let's|^now let|^now i'll|^now i will|^i'll|^i will|^i'm going|^i am going|^first i|^next "
    "i|^next let|^now update|"
    "^now add|^now the|^now we|^then i'll|^running|^checking|^looking|^reading|^starting|^going to|^time to|^i need "
    "to|^we need to|"
    "^i should|^i have to|^now run|^good let me|^ok let me|^okay let me|^great let me|^perfect let me|^continuing|"
    "^proceeding|"
    "^i can see|^i see|^i want to|^i'd like to|^we'll|^we will|^now i need|^now create|^now fix|^now check|^moving "
    "on|^here's|^here is|"
    "^here are|^below|^i'm|^i am|^will|^working on|^investigating|let me check|let me look|let me try|let me verify|"
    "let me see|"
    "let me read|let me run|let me fix|let me also|let me update|let me examine|let me search|let me find|let me "
    "understand|"
    "i'll check|i'll look|i'll try|i'll now|i'll update|i'll add|i'll fix|i'll start|i'll run|i'll create|next i'll",
    # True for a moment.
    "status": "tests pass|tests passed|all pass|now pass*|^passes|^passing|is passing|are passing|all green|0 issues|"
    "no issues|no errors|build succe*|"
    "builds successfully|compiles|lint clean|^committed|^pushed|^merged|has been merged|been pushed|been committed|"
    "all done|^done|^complete|is complete|is now complete|"
    "completed|successfully|ready to|ready for|works now|everything works|it works|^works|working correctly|all good|"
    "up to date|"
    "no changes needed|type check*|typecheck*|^deployed|verified that|has been updated|have been updated|is done|"
    "^implemented|is implemented|tests are|test suite|all tests|lint is|linter|no regressions|clean build|0 failures|"
    "0 errors|is ready|"
    "exit code|tests green|0 failed|is working|are working|is now working",
    # Work done: the diff tells it.
    "work": "^added|^add|^updated|^update|^created|^create|^removed|^remove|^renamed|^rename|^modified|^modify|"
    "^changed|^change|^moved|^move|"
    "^refactored|^refactor|^implemented|^implement|^replaced|^replace|^introduced|^introduce|^extracted|^wrote|"
    "^write|^new|^deleted|^delete|"
    "^extended|^switched|^wired|^converted|^cleaned|^simplified|^improved|^included|^migrated|^i added|^i've added|"
    "^i updated|"
    "^i've updated|^i created|^i've created|^i removed|^i've removed|^i changed|^i've changed|^i implemented|^i've "
    "implemented|"
    "^i replaced|^i've replaced|^i moved|^i wrote|^i've written|^i fixed|^i've fixed|^i made|^i've made|^fixed|^fix|"
    "^also added|"
    "^also updated|^both|^installed|^set up|^documented|^registered|^enabled|^disabled|^bumped|^i refactored|^i've "
    "refactored|"
    "^tests|^test|^verified|^ran|^edited|^adjusted|^reverted|^tightened|^kept|^left",
    # Offered or proposed, not so.
    "offer": "^i'd go|^i'd start|^i'd approach|^i'd suggest|^i would|my suggestion|if you want|if you'd like|if you "
    "like|if you prefer|would you like|let me know|do you want|shall i|should i|want me to|"
    "happy to|feel free|you can|you could|we could|we can|we might|could also|i can|i could|i'd recommend|i "
    "recommend|i'd suggest|"
    "i suggest|recommend|consider|option|options|alternatively|one approach|another approach|optional*|next step|"
    "next steps|"
    "in the future|future work|nice to have|could be added|should we|tell me|i propose|proposal|follow up|"
    "if needed|if desired|when you're ready|once you|please",
    # Bound to where the work stands now.
    "transient": "currently on|one conflict|conflicts in|conflict in|both branches|this branch|current branch|the "
    "branch|on branch|uncommitted|unstaged|untracked|working tree|work tree|this pr|"
    "the pr|pull request|this session|this conversation|earlier in|already running|right now|for now|at the moment|"
    "this commit|last commit|stash|merge conflict|in progress|remaining|todo|left to do|still needs|still need|still "
    "to do|"
    "so far|as mentioned|above|the following|below|just now|a moment ago|previous message|as requested|as you asked|"
    "you asked|"
    "your request|the changes|these changes|my changes|the change|this change|this update|the update|the diff",
    # True of this hour only.
    "moment": "right now|at the moment|try again later|not reachable|temporarily unavailable|currently unavailable|"
    "currently down|server is down|registry is down|site is down",
    # The shell or the tool, not the system.
    "noise": "compiler complains|isn't exported|is not exported|didn't compile|doesn't compile|missing comma|missing "
    "semicolon|missing bracket|missing brace|missing quote|misspelled|misspelling|not "
    "installed|wasn't installed|"
    "already in use|expected the old|expects the old|old label|outdated snapshot|outdated test|outdated expectation|"
    "command not found|parse error|syntax error|no such file|file does not exist|file doesn't exist|string "
    "not found|old string|"
    "unused import|unused imports|imported and not used|unknown option|unknown skill|file has not been read|read it "
    "first|typo|indentation|"
    "whitespace|import order|unused variable|line length|tool result|tool call|api error|timed out waiting|"
    "connection error|git status|"
    "lint error|lint errors|lint issue|lint issues|compile error|compilation error|missing import|missing imports|cd "
    "into",
    # Where code lies: any search finds it.
    "place": "is defined in|defined in|is located|located in|located at|lives in|is in the file|can be found|is "
    "implemented in|"
    "declared in|see line|at line|on line|lines|is called from|is called in|imported from|is stored in the file|file "
    "is",
    # What tests there are.
    "tests": "test cases|test covers|tests cover|covering|test for|tests for|unit test|unit tests|integration test|"
    "integration tests|"
    "test coverage|verifies that|verify that|asserts|new tests|added tests|test file|tests added|covers|should "
    "return|e2e test*",
    # Takes something back that was said before.
    "refute": "^wait|^hmm|^hm|^oh|^oops|^actually|i was wrong|was wrong|not the cause|isn't the cause|not the issue|"
    "isn't the issue|"
    "isn't the problem|not the problem|my mistake|contrary|incorrect|was incorrect|ruled out|rule out|still slow|"
    "still fails|"
    "still failing|still the same|same error|didn't work|did not work|doesn't work|didn't help|no effect|misread|i "
    "misunderstood|"
    "not what i|that's odd|strange|weird|unexpected|false alarm|red herring|on second thought|scratch that|mistaken|"
    "still broken|"
    "still seeing|still happens|^still|the opposite|disproved|so it's not|so that's not|that was wrong|turned out not|"
    "retract|withdraw|i misspoke|invalid",
    # Points back, so it cannot stand alone.
    "bare": "^that's|^it's|^they're|^there's|^it'll|^they'll|^it|^this|^that|^they|^these|^those|^he|^she|^its|"
    "^their|^which|^so it|^so this|^so that|^so they|^and|^but|^also|^then|"
    "^both|^the same|^same|^in that case|^in this case|^here|^there|^such|^either|^neither|^however it|^however this|"
    "^instead it|"
    "^the former|^the latter|^all of|^each of these|^when any of these|^the first|^the second|^otherwise|^doing so|"
    "^after that|^before that|^at this point|^until then|^if so|^if not|^this is|^for example|^e g|^see|^with this|"
    "^with that|^once done",
    # Agreement and praise: says nothing itself.
    "praise": "^you're right|^you are right|^good idea|^great|^good question|^good catch|^excellent|^perfect|^sure|"
    "^absolutely|^sounds good|"
    "^got it|^understood|^thanks|^thank you|^nice|^yes|^ok|^okay|^good point|^right|^exactly|^of course|^makes sense|"
    "^agreed|"
    "^good news|^no problem|^sorry|^my apologies|^i apologize|^apologies|^awesome|^cool|^correct|^fair point|^great "
    "question",
    # Tells what the speaker did or could do.
    "mine": "^i|^we|^my|i can|i can't|i cannot|i couldn't|i've|i have|i was|i did|i noticed|i found",
    # An experiment stands behind it.
    "measured": "measured|benchmark*|timing|timed|profil*|down from|reduced from|dropped from|improved from|went "
    "from|faster|slower|baseline|"
    "compared to|versus|vs|before and after|consistently|reproduc*|confirmed by|verified by|tested|empirically|"
    "average|median|p95|p99|of the time|saves|saved|spent|accounts for|down to|reduces|cuts|"
    "per second|throughput|latency|took",
    # Diagnostic and operating knowledge: a switch, and what it does.
    "switch": "environment variable|env var|env variable|environment variables|flag|feature flag|setting|config "
    "option|to debug|to profile|"
    "to trace|to reproduce|to disable|to enable|opt out|opt in|to skip|disables|enables|turns off|turns on|to bypass|"
    "to override",
}
USER = {
    "propose": "i think we should|i think it should|i think this should|i think you should|i'd rather|i would rather|"
               "should rather|better to|"
    "would be better|i think we|we should|let's rather|why don't we|why not|can't we|couldn't we|wir sollten|besser "
    "wäre|deberíamos|mejor sería",
    "should": "should|ought to|needs to|is supposed to|are supposed to|don't belong|doesn't belong|does not belong|"
              "belongs in|soll|sollen|sollte|"
    "sollten|debería|deberían|devrait",
    "remember": "^remember|remember that|remember this|please remember|keep in mind|note that|for future reference|"
                "for the record|"
    "make a note|take note|don't forget|do not forget|from now on|going forward|in future|in the future always|make "
    "sure to remember|"
    "save this|add to memory|"
    "merk dir|merke dir|bitte merken|merken wir uns|denk daran|denk dran|vergiss nicht|nicht vergessen|zur info|ab "
    "jetzt|ab sofort|künftig|in zukunft|"
    "recuerda|recuerde|ten en cuenta|tenga en cuenta|no olvides|a partir de ahora|para el futuro|apunta que|"
    "souviens toi|rappelle toi|n'oublie pas|à partir de maintenant|dorénavant|lembre se|a partir de agora|ricorda",
    "correct": "^can't|^cannot|^no|^nope|^nein|^actually|^wait|^not|^stop|^don't|^do not|^wrong|that's wrong|that is "
               "wrong|that's not|that is not|this is wrong|this isn't|"
    "this is not|you're wrong|incorrect|you should not|you shouldn't|shouldn't|should not|should use|should have|"
    "should be using|instead of|"
    "rather than|you forgot|i forgot to tell|i forgot to mention|we already have|there's already|there is already|"
    "already exists|"
    "why did you|why are you|you missed|you misunderstood|not what i|i said|i told you|i meant|doesn't make sense|we "
    "don't|we do not|we can't|"
    "we cannot|isn't how|that's not how|never|please don't|please do not|use the existing|reuse|not allowed|undo|"
    "revert|i disagree|"
    "i'd rather|i would rather|let's not|avoid|"
    "^falsch|^stopp|^halt|das ist falsch|das stimmt nicht|stimmt nicht|bitte nicht|nicht so|sondern|statt|anstatt|"
    "stattdessen|wir haben schon|"
    "wir haben bereits|gibt es schon|gibt es bereits|du hast vergessen|sollte nicht|darf nicht|dürfen nicht|niemals|"
    "nie|"
    "eso no|así no|está mal|incorrecto|en vez de|en lugar de|ya tenemos|ya existe|no uses|no se debe|no debe|no "
    "debemos|nunca|sino|no hagas|"
    "^non|c'est faux|au lieu de|plutôt que|nous avons déjà|on a déjà|ne pas|jamais|em vez de|já temos|invece di",
    "work": "you didn't|you did not|you haven't|you removed|you deleted|you changed|you broke|is unchanged|is still|"
            "are still|still has|still shows|"
    "why did you|you forgot to|did you",
    "rule": "with us|for us|we agreed|we've agreed|agreed with|"
            "we always|we never|always|never|we only|we use|we don't use|we do not use|"
            "we prefer|our convention|"
            "convention is|our policy|policy is|the rule|"
    "our rule|must|must not|must never|has to be|have to be|is not allowed|are not allowed|is forbidden|in this repo|"
    "in this project|in this codebase|in our|our team|"
    "by convention|we require|is required|are required|every|all our|our sla|our contract|our legal|our license|our "
    "licence|our auditors|contract says|by contract|by law|compliance|gdpr|dsgvo|we keep|we want all|by design|on "
    "purpose|intentionally|deliberately|"
    "supposed to|only allowed|we're not allowed|we are not allowed|do not ever|under no circumstances|consistent "
    "with|source of truth|"
    "wir verwenden|wir nutzen|wir benutzen|immer|niemals|nie|muss|müssen|darf|dürfen|bei uns|in diesem projekt|"
    "grundsätzlich|konvention|vorgabe|"
    "usamos|siempre|nunca|debe|deben|tenemos que|hay que|en este proyecto|en este repo|por convención|la regla|"
    "nous utilisons|on utilise|toujours|jamais|il faut|doit|doivent|dans ce projet|sempre|devem|dobbiamo",
    "because": "or it|or they|or the|or else|because|since|that way|this way|so it|so they|too slow|too big|too many|"
               "too much|we can't|won't work|"
               "doesn't work with|so that|otherwise|as it|due to|the reason|that's why|which is|to avoid|in "
               "order to|causes|breaks|would break|"
    "will break|leads to|more robust|consistent|properly|already handles|handles|for compliance|for legal|by law|so we|"
    "weil|denn|sonst|damit|da sonst|wegen|ansonsten|nämlich|porque|ya que|para que|si no|debido a|por eso|parce que|"
    "car|sinon|porque|perché",
    "system": "is|are|means|runs|returns|comes|happens|has|have|contains|expects|sends|stores|depends|belongs|"
              "represents|refers|says|live|lives|live|need|"
    "counts|uses|calls|lives|stays|ist|sind|bedeutet|läuft|hat|es|son|significa|tiene|est|sont",
    "affirm": "it works|^works|runs now|runs through|passes now|yep that|yes that's it|yep|that works|works "
              "perfectly|it's fixed|fixed now|works as expected|works now|that worked|that "
              "fixed|this fixed|fixed it|that's it|that was it|confirmed|i can confirm|can confirm|definitely|"
    "i tested|i verified|i checked|i measured|i reproduced|reproducible|verified|works great|works perfectly|yes that|"
    "you were right|solved|is gone|no longer happens|funktioniert|geht jetzt|bestätigt|funciona|confirmado|ça marche",
    "deny": "doesn't work|does not work|didn't work|did not work|not working|same error|same issue|same problem|"
            "still fail*|still broken|"
    "still not|still the same|still happen*|still see*|still get*|still slow|still wrong|still doesn't|still there|"
    "still crash*|still hang*|"
    "that's not|that isn't|that is not|that's wrong|not true|isn't true|i don't think so|not the issue|not the "
    "problem|not the cause|"
    "no luck|i disagree|it's worse|made it worse|nein|geht nicht|funktioniert nicht|immer noch|stimmt nicht|sigue "
    "sin|sigue fallando|"
    "todavía no|no funciona|toujours pas|ne marche pas",
    "refuse": "^no|^nope|^nein|^non|^wrong|^falsch",
    "accept": "^yes|^yep|^yeah|^ok|^okay|^sure|^go|^go ahead|^do it|^sounds good|^perfect|^great|^lgtm|^approved|"
              "^proceed|^continue|^please do|^let's do|"
    "^let's go|^looks good|^agreed|^nice|^good|^ja|^gut|^passt|^mach|^sí|^si|^vale|^adelante|^de acuerdo|^dale|^oui|"
    "^d'accord|^sim",
    "choose": "go with|let's go with|let's do|let's use|i'd go with|i prefer|i choose|pick|let's take|nehmen wir|wir "
              "nehmen|lieber|vamos con|"
    "prefiero|mejor la",
    "personal": "my laptop|my machine|my mac|my computer|my editor|my terminal|my wife|my husband|my kid|my name|my "
                "email|my account|my password|my ide|"
    "my shell|my dotfiles|my birthday|my timezone|i live|my phone|my calendar|my manager|my boss|my desk|my home|i "
    "like to work|call me|my preference|"
    "for me personally|i'm tired|i prefer short|prefer short|be concise|answer in|respond in|reply in|mein laptop|"
    "mein rechner|meine frau|mi portátil|"
    "mi ordenador|keep answers|shorter answers|speak to me|talk to me|my own machine|on my side|my tmux|my vim|my "
    "screen",
    "secret": "password|passwort|contraseña|api key|secret key|access token|private key",
    "inject": "ignore previous|ignore all|ignore the above|disregard|you are now|system prompt|you must comply|"
              "override your|new instructions|"
    "do not tell the user|hidden instruction|as an ai|jailbreak|developer mode|without asking",
    "process": "^commit|^push|commit and push|create a pr|open a pr|"
               "^run|^rerun|^try again|^continue|^proceed|^test|^add tests|^write tests|^show|^explain|"
    "^summarize|^review|^check|^look|^read|^fix|^can you|^could you|^please|^let's|^what|^why|^how|^is|^are|^do|"
    "^does|^did|^should|^would|^will|"
    "commit this|commit it|push it|merge it|make a commit|squash|^add|^update|^change|^rename|^remove|"
    "^delete|^make|^move|^create|"
    "^implement|^write|^set|^put|^replace|^refactor|^translate|^format|^clean|^bitte|^kannst|^mach|^puedes|^haz|^pon|"
    "^schreib|^übersetze|^traduce",
}  # fmt: skip

_ASSISTANT = Lexicon({**ENGLISH, "noise": f"{ENGLISH['noise']}|{USER['inject']}"})
_USER = Lexicon({**USER, "hedge": ENGLISH["hedge"]})
_GUESS = Lexicon({"hedge": ENGLISH["hedge"]})
_BARE = Lexicon({"bare": ENGLISH["bare"]})
_REFUTE = Lexicon({"refute": ENGLISH["refute"]})


@lru_cache(maxsize=32768)
def assistant_flags(text: str) -> frozenset[str]:
    """What a sentence of the assistant's does, as names of `ENGLISH` and of `forms`."""
    words = words_of(outside_brackets(text))
    found = _ASSISTANT.flags(words) | assistant_forms(text, words) | shape(text, words)
    return frozenset(found)


@lru_cache(maxsize=32768)
def user_flags(text: str) -> frozenset[str]:
    """What a sentence of the user's does, as names of `USER` and of `forms`, and whether it is a guess."""
    words = words_of(text)
    found = _USER.flags(words)
    if "hedge" in found and ("propose" in found or ("may" in words and not _GUESS.flags(guessing(text, words)))):
        found.discard("hedge")
    return frozenset(found | user_forms(text, words) | shape(text, words))


def points_back(text: str) -> bool:
    """Whether a sentence opens with a word that points back, so that it does not stand alone (`bare`)."""
    return bool(_BARE.flags(words_of(outside_brackets(text))))


def takes_back(text: str) -> bool:
    """Whether a sentence says that something was wrong (`refute`)."""
    return bool(_REFUTE.flags(words_of(outside_brackets(text))))
