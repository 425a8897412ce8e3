"""Expressions for small talk in English: sentences without statements. Used by small_talk_filter.py.

Each matches at the beginning of a sentence without interjections and thanks.
"""

import re2

# Words that make a sentence a statement, wherever they are.
CARRIES = re2.compile(
    r"(?i)[`\"“”>#|{}<@\d]|https?:|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:today|tonight|tomorrow|yesterday|noon"
    r"|(?:this|next|last) (?:week|weekend|month|year|summer|winter|spring|fall|autumn|morning|evening|time)"
    # Wishes how to be answered are lasting, even as a question or as praise.
    r"|always|never|from now on|every time|whenever|instead|prefer\w*|stop \w+ing|too (?:long|short|wordy|formal|verbose)|shorter|longer|answers?|repl(?:y|ies)|respond\w*|format\w*|call me|speak|language|tone|remember)\b"
)
# First-person words in frequent languages.
SELF = re2.compile(
    r"(?i)\b(?:i|i['’]\w+|im|ive|me|my|mine|myself|we|we['’]\w+|us|our|ours|ourselves"
    r"|ich|mir|mich|mein\w*|wir|uns\w*|je|j['’]\w+|moi|mon|ma|mes|nous|yo|mi|mis|nosotros|io|mio|mia|eu|meu|minha)\b"
)
_VERY = r"(?:definitely |certainly |really |totally |truly |completely |so |also |just |always |can |only |still |too |sure |super |very |pretty |all )*"
_IT = r"(?:it|that|this|them|those|these)"
# First-person phrases of the conversation: "let me know", "I'm so glad", "I'll check it out".
TALK = re2.compile(
    rf"(?i)\b(?:(?:let|tell|show|send|give) (?:me|us)|keep me (?:posted|updated)|me too|sounds good to me|means? (?:so much|a lot|a ton|the world) to me|(?:can|could|would|will) you (?:please )?(?:tell|show|give|send|help|explain|recommend|suggest|find|get) (?:me|us)|(?:anything|something) (?:else )?i can (?:do|help)"
    rf"|(?:i['’]ll|i will|i['’]d|i would|i|we['’]ll|we|i might|i should|i gotta|i have to) (?:have to )?{_VERY}(?:(?:hope|bet|wish) (?:you|it|that|this|they|so|all)|see (?:what|why|that|how)|know (?:that|what you|how you|you|right|it)|agree|guess (?:so|it|that)|wonder|believe in you|appreciate|understand|imagine|get (?:it|that|what you)|got (?:it|you)|hear (?:you|ya)|feel (?:you|ya)|tell you|say|think (?:so|that['’]s|it['’]s)|thank"
    rf"|let (?:you|ya) know|keep (?:you|ya) (?:posted|updated)|get {_IT} to you|get back to you|talk to you|check {_IT} out|give {_IT} a (?:try|go|shot)|try {_IT}(?: out)?$|look into {_IT}|keep {_IT} in mind|be (?:here|there) for|be rooting|help you|do my best|make it$|love to (?:hear|know|learn more)|(?:love|like) (?:how|what|the (?:idea|way|sound|look|colou?rs?)|{_IT}(?: (?:one|idea|so much|too|pic|photo|picture|painting))?$)|can['’]t wait$|won['’]t (?:quit|give up|let you down))"
    rf"|(?:i['’]m|i am|we['’]re|i was|im) {_VERY}(?:glad|happy (?:for|to (?:hear|see|help)|that|you)|proud (?:of|to)|sorry|sure|certain|here (?:for|to|if)|rooting|cheering|jealous|impressed|curious|all ears|with you|wishing|listening|looking forward to (?:hearing|seeing|it|that)|blown away|excited (?:for you|to (?:hear|see)))|(?:glad|happy) i could|same (?:with|for) me)\b"
)
_PRAISE = (
    r"(?:good|great|awesome|amazing|cool|nice|lovely|wonderful|fantastic|incredible|beautiful|gorgeous|stunning|impressive|inspiring|adorable|cute|sweet|fun|funny|perfect|interesting|fascinating|exciting|tough|hard|rough|scary|sad|awful|terrible|frustrating|disappointing|rewarding|fulfilling|satisfying|powerful|meaningful|special|important|key|helpful|useful|tasty|yummy|delicious|yum|peaceful|calming|relaxing|soothing|chill|cozy|comforting|heartwarming|touching|thoughtful|fair|true|right|crazy|wild|hilarious|unbelievable|magical|unique|brave|super|neat|rad|sick|lit|dope"
    r"|talented|strong|lucky|welcome|kind|worth it|doable|possible|understandable|worthwhile|huge|big|best|blast|treat|bummer|shame|pity|joy|challenge|idea|news|point|deal|shot|pic|picture|photo|choice|way|feeling|start|sight|view|accomplishment|achievement|experience|inspiration|friend|job|work)"
)
_OPENER = (
    r"(?:(?:thanks?|thank you|thx)(?: (?:so much|very much|a lot|a bunch|a ton|again))?(?: for [\w '’-]{2,60})?|congrat(?:s|ulations)(?: (?:on|to) [\w '’-]{2,60})?|long time no (?:see|talk)|you['’]re welcome|my pleasure|of course|for sure|got it|gotcha|no (?:worries|problem|prob|doubt|way|biggie)|not bad|sure thing|way to go|(?:same|likewise)(?: here)?|take care"
    r"|(?:(?:so|really|super|it['’]s|its|it is|it was) )*(?:good|great|nice|awesome|lovely|wonderful|amazing|cool|excited|happy|glad) (?:to (?:hear(?: from you)?|see you|meet you|know|catch up(?: with you)?)|hearing from you|chatting(?: with you)?|talking to you|seeing you)|(?:good|great|nice|awesome|amazing|cool|excellent|well|wonderful|beautiful|sweet) (?:job|work|point|idea|one|call|news|question|choice|stuff|done|luck|going|thinking|recs?|pic|picture|photo|shot|tip|advice)s?|(?:i['’]ll )?see (?:you|ya)(?: (?:soon|then|there|later|around|again))?|talk (?:to you )?(?:soon|later)"
    r"|wow+|whoa|woah|woo+h?o+|yay|yes+|yeah+|yep|yup|yea|no|nope|nah|hey+|hi+|hello|oh+|ooh|ah+|aw+|oof|mm+|hm+|haha+|lol|omg|ok|okay|well|so|and|but|also|plus|cool|nice|great|awesome|amazing|wonderful|fantastic|perfect|lovely|sweet|good|absolutely|definitely|totally|exactly|agreed|true|right|indeed|sure|anytime|hooray|bravo|kudos|bye|goodbye|cheers|ttyl|really|seriously|man|dude|bud|buddy|friend|please)"
)
OPENERS = re2.compile(rf"(?i)^(?:{_OPENER}(?:[\s,.!~:;–—-]+|$))+")
NAME_CALLED = re2.compile(r"^[A-ZÀ-Þ][a-zà-ÿ]+(?:[,!.]\s*|\s*$)")
ANSWER = re2.compile(
    r"(?i)^\W*(?:yes+|yeah+|yep|yup|yea|no|nope|nah|sure|of course|absolutely|definitely|totally|exactly|right|correct|true|both|neither|either|maybe|perhaps|not|only|sometimes|usually|often|mostly|sounds good|ok|okay)\b"
)
QUESTION = re2.compile(
    r"(?i)^(?:(?:by the way|btw|speaking of which|in the meantime|on another note|now|then|how about you|what about you|just curious|any)[,:\s]+)*(?:wh?at|what['’]s|how|how['’]s|why|where|where['’]s|when|who|who['’]s|which|do|does|did|have|has|had|is|are|were|isn['’]t|aren['’]t|don['’]t|didn['’]t|can|could|would|will|should|wouldn['’]t|any|anything|ever|want|wanna|got|care|mind|need|you)\b"
)
_SHOWN = r"(?:that|this|it|those|these|they|she|he|you|all (?:that|this|those)|there|(?:that|this|those|these|your) [\w'’-]+(?: [\w'’-]+){0,2}?)"
# "You're so strong", "Your hard work and talent will pay off"
TO_THE_OTHER = re2.compile(
    rf"(?i)^(?:you|you['’]\w+|your)\b(?:.*\b(?:{_PRAISE}|got this|can do it|deserve\w*|pay\w* off|inspir\w+|means?|potential|drive|courage|talent|passion\w*|proud|rock|nailed|kill|shine)\b)"
)
# "So happy you found it", "Sounds like you had fun"
FEELING_FOR = re2.compile(
    rf"(?i)^(?:(?:i['’]m|i am|we['’]re|i|it['’]s|that['’]s|it is) )?{_VERY}(?:a |quite |such )*(?:glad|happy|proud|excited|thrilled|stoked|sorry|jealous|impressed|pumped|hope|hoping|hopefully|bet|believe|appreciate|admire|respect|wish|wishing|rooting|cheering|thank|thanks|grateful|great|good|nice|awesome|amazing|cool|lovely|wonderful|incredible|inspiring|sweet|blessing|pleasure|can see|can tell|know|understand|no wonder|sounds? like|looks? like|seems? like|sending|here|love how|like how)\b.*\b(?:you|your|you['’]\w+|yours|yourself|ya|u|that|it)\b"
)
# "Keep it up", "Good luck", "Let me know"
CHEERING = re2.compile(
    r"(?i)^(?:(?:just|please|and|also|so|now|but|definitely|if you [\w ]+,) )*(?:keep (?:it up|up|going|on|at it|pushing|moving|chasing|doing|being|believing|working|trying|me posted|me updated|inspiring|sharing|rocking|shining)|believe in|do ?n['’]t (?:give up|worry|hesitate|quit|let .*(?:stop|down))|never give up|stay (?:strong|positive|safe|motivated|focused)|hang in|push (?:on|through)|go for|have (?:a (?:great|good|nice|lovely|wonderful|awesome|safe)|an (?:awesome|amazing)|fun|a blast|a ball)|enjoy|take (?:care|it easy|your time|a look|comfort)|let (?:me|us) know|lemme know|tell (?:me|us)|show (?:me|us)|look at|check (?:it|this|that|them) out|check out|rock on|(?:best of |good )?luck|fingers crossed|feel free|can['’]t wait to (?:see|hear|read|catch)|looking forward to (?:hear|see)|you got|catch you|all the best|sending|good on you)\b"
)
# "That must be tough", "Your painting looks great", "What a view"
REACTION = re2.compile(
    rf"(?i)^(?:{_SHOWN}(?:['’]s|['’]re|['’]ll|['’]ve| is| are| was| were| will| can| could| might| must| would| may| has| have| sure|) *)?(?:(?:be|been|feel|felt|sounds?|looks?|seems?|have|has|must|can|like|really|so|very|super|pretty|quite|such|truly|just|also|definitely|totally|all|both|extra|a|an|the|one of the|kind of|kinda|even|more|most|absolutely|certainly|sure) +)*{_PRAISE}\b"
    r"|^(?:sounds?|looks?|seems?|what (?:a|an)|must|loving|love (?:it|that|this|the|your|those|how)|not (?:bad|sure|at all|a problem)|it takes|it['’]s ok(?:ay)?|there you go|here (?:it is|you go|we go)|no wonder|you bet|will do|will try|can['’]t wait|(?:that|this|it)(?:['’]s| is| was) (?:the spirit|it|so true)|that makes sense|(?:that|this|it) (?:really )?rocks|(?:they|it|that|you) (?:sure|really) (?:do|does|is|are|did|can|was)$)\b"
)
# "Those posters look great", "Trying new places is always fun"
EVALUATION = re2.compile(
    rf"(?i)^(?:(?:that|this|those|these|your|the|all (?:the|that|those)|such|\w{{3,}}ing|(?:life|nature|music|art|books|animals|pets|kids|family|friends|teamwork|creativity)(?:['’]s)?)\b(?-i:[^,;:A-Z]){{0,60}}?(?:['’]s| is| are| was| were| looks?| sounds?| seems?| feels?| must be| must have been| must feel| can be| will be) {_VERY}(?:(?:a|an|the|such a|such an|so|one of the|quite|always|even|more|most|such|like a) )*{_PRAISE}\b(?-i:[^A-Z]){{0,40}}$)"
)
IDLE = (TO_THE_OTHER, FEELING_FOR, CHEERING, REACTION, EVALUATION)
