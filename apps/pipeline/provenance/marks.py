"""The marks of material that is not its sender's own: of regions, lines and pastes, and the words that introduce them."""

import re2

# Labels before a speaker's own words: "Reminder: I'm vegan". Other words before a colon may be a name.
OWN_LABELS = frozenset(
    "reminder note ps update edit correction fyi btw context background also important question answer summary info fact"
    " facts about status today yesterday tomorrow goal goals plan plans preference preferences diet health"
    " allergy allergies hobby hobbies job work location home family age city language languages education budget"
    " monday tuesday wednesday thursday friday saturday sunday me us personal hint disclaimer warning remember"
    " task problem issue request situation requirements hi hello hey ok okay yes no well so thing news deal short clear"
    " truth honest honestly point spoiler confession finally conclusion reason reasons because record things simple go re"
    " anyway exception rule next drink sleep money pets part bit upside side self test interview neues neuigkeit"
    " neuigkeiten nachtrag korrektur nouvelle nouvelles hinweis erinnerung frage rappel beruf wohnort familie übrigens"
    " wichtig".split()
)
MACHINE = r"(?:system|assistant|developer|tool|user|human|ai|(?:chat)?bot|function|model|llm|admin(?:istrator)?|chatgpt|claude|gemini|copilot|systemnachricht|système|sistema)"
# What a text can stand in or come from; words of four letters and more also end compounds: "voicemail", "Sprachnachricht".
SOURCE = (
    r"(?:\pL*(?:mail|letter|paragraph|sentence|story|poem|essay|article|message|transcript|review|abstract|report|chapter|passage|dialogue|conversation|excerpt|testimonial|document|summary|quote|lyrics|caption|subtitle|tweet|speech|resume|résumé"
    r"|output|response|page|site|readme|ticket|comment|note|snippet|file|memo|notice|advert|description|instruction|prompt|blog|forum|reddit|survey|export|search|query|screenshot|script|recording|dictation|profile|linkedin"
    r"|nachricht|brief|artikel|seite|ausgabe|kommentar|notiz|zettel|protokoll|abschrift|untertitel|courriel|lettre|légende|réponse|nota|carta|mensaje|correo)(?:e?s|e[nr]|en)?"
    r"|texts?|texte|texto|drafts?|scans?|postcards?|posters?|flyers?|posts?|logs?|chats?|bio|ad|cv|ocr|pdf|til|fax|sms|dm|quiz)"
)
SOURCE_NOUN = re2.compile(rf"(?i)\b{SOURCE}\b")
FIRST_PERSON = re2.compile(
    r"(?i)\b(?:i|i['’]\w+|me|my|mine|we|our|us|ich|mein\w*|mir|wir|je|j['’]\w*|mon|ma|mes|moi|yo|mi|mis|soy|vivo|tengo|estoy)\b"
)
SPEAKS = re2.compile(
    r"(?i)\b(?:wrote|writes|written|replied|answered|texted|messaged|e-?mailed|posted|said|says|saying|sent|told|tells|asked|claims|claimed|stated|states|reads|goes|returned|returns|printed|prints|shows|dictated|dictates"
    r"|schrieb|schreibt|geschrieben|sagte|sagt|gesagt|meinte|meint|antwortete|diktierte|a écrit|a dit|dit|répond|dicté|escribió|dijo|dictó)\b|\b(?:il|elle|on|\pL+) écrit\b"
)
# "As I said:", "what I told him:", "about me:", "you asked:" introduce the speaker's own words.
INTRODUCES_SELF = re2.compile(
    r"(?i)\b(?:i|we|i['’]ve|ich|wir|je|j['’]ai)(?: \w+)? (?:wrote|said|say|told|replied|answered|texted|mentioned|sagte|schrieb|dit|sent|asked|posted)\b[^:]*$"
    r"|\b(?:about (?:me|myself|us)|remember|note that|note down|keep in mind|(?:in|long story) short|you(?:['’]ve| have)? (?:just )?(?:asked|wanted to know)|for (?:you|your [\pL]+)|to (?:self|myself)|reminder|facts?|preferences|correction|merk dir|denk daran|souviens-toi|retiens)\b|über mich|à propos de moi"
)
AS_I_SAID = re2.compile(
    r"(?i)^(?:as|like|wie|comme|como) (?:i|ich|je)(?: \w+|['’]\w+){1,3}(?: before| already| earlier| schon| déjà)?\s?[,:] "
)

# ---- Tasks over material
_POLITELY = r"(?i)^\W*(?:(?:please|pls|hey|hi|ok|now|also|and|then|bitte),? )*(?:(?:can|could|would|will|kannst|könntest|peux-tu) (?:you |du )?(?:please |bitte )?|(?:I (?:want|need) you|I'd like you) to |help me (?:to )?){0,3}"
# Verbs whose object is always a text or a list.
TASK = re2.compile(
    rf"{_POLITELY}(?:(?:act|behave|respond|answer) (?:as|like)|translate|repeat|recite|summari[sz]e|rewrite|re-?phrase|reword|paraphrase|proof-?read|spell[- ]?check|classify|refactor|transcribe|debug|(?:sort|order|rank|group|fix|tidy up|clean up|correct|edit|improve|shorten|polish|explain|review|check) (?:the|this|these|my) (?:spelling|grammar|\w* ?{SOURCE}|code|script|quer\w+|rows?|lines?|lists?|tables?|csv|data|words|names)|(?:sort|refactor|fix|explain|review|edit|polish|shorten|improve)(?: this| these| it|[ \t]*$)"
    rf"|make (?:an? )?(?:\w+ )?(?:quiz|flash ?cards|table|list) |fasse|résume[rz]?|corrige[rz]?|traduce|resume|(?:[\pL ]+ )?(?:übersetz|korrigier|zusammenfass|tradui?[rcst])\pL*)(?:\b|$)"
)
REQUEST = re2.compile(
    rf"{_POLITELY}(?:correct|edit|improve|shorten|polish|fix|check|review|analy[sz]e|explain|classify|critique|grade|describe|rate|evaluate|guess|simplify|convert|expand|continue|complete|comment on|reply to|respond to|answer|read|parse|extract|write|draft|compose|create|look at|tell me what|say|fill in|quote|type|sort|erkläre?|prüfe?|lies|explique[rz]?|lis)\b"
)
POINTS = re2.compile(
    rf"(?i)\b(?:this|these|that|the following|following|attached|here(?:'s|’s| is| are| comes?)|below|above|dies\w*|folgende\w*|cet(?:te)?|ce|voici|hier ist)\b[^.!?:\n]{{0,50}}\b{SOURCE}\b|\b(?:got|received|found|saw|read|have|erhalten|bekommen|reçu) (?:this|these|the following|das|dies\w*|ça|ceci)\b|\bwhat does (?:this|that|it) (?:say|mean|want)\b|\bis (?:this|that) (?:spam|true|real|legit|phishing)\b"
    rf"|\b{SOURCE} (?:is )?below\b|\b(?:text )?above\b|\b(?:to|for) (?:the |all |any )?(?:ai|agents?|assistants?|bots?|models?|llms?)\b"
)
# At the end of a line: "Explain this".
POINTS_BELOW = re2.compile(r"(?i)\b(?:this|these|following|below|hier|unten|ci-dessous)\b[^\pL]*$")
REPORT = re2.compile(
    rf"(?i)(?:^|[.!?\n][ \t]*)((?:(?:the|this|that|an?|your|der|die|das|le|la) (?:\w+ )?(?:{MACHINE}|{SOURCE})|you|chatgpt|claude|gemini|copilot) (?:just |also |has |have )?(?:said|says|claims?|claimed|told|wrote|writes|states?|stated|thinks?|suggest(?:s|ed)|sagte?|schrieb|dit|dijo)\b[^.!?\n]*?\b(?:that|i|my|dass|ich|que|je)\b[^.!?,\n]*)"
)

# ---- Regions and lines with marks of their own
_NAME = r"(?:\p{Lu}[\pL\w.'-]*(?: \p{Lu}[\pL\w.'-]*){0,2})"
_CLOCK = r"[\[(]?(?:[\d/.\-]{4,10}[,T]? ?)?\d{1,2}[:.]\d{2}(?::\d{2})?(?:[.,]\d+)?(?: ?[apAP][mM])?[\])]?"
_STAMP = r"[\[(]?\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?[\])]?"
_TO_PARAGRAPH_END = r"(?s:.*?)(?:\n[ \t]*\n|\z)"
MARKED = tuple(
    map(
        re2.compile,
        (
            # Fences, JSON, elements; a tag that opens a line goes on to the end of the paragraph.
            r"(?s)```.*?(?:```|\z)|~~~.*?(?:~~~|\z)|\"\"\".*?(?:\"\"\"|\z)|'''.*?(?:'''|\z)|/\*.*?(?:\*/|\z)",
            r"(?s)(?:\{\s*[\"'{\[]|\[\s*[\"{\[])(?:.*[}\]][^\n]*|.*)",
            r"(?is)<[a-z!][^<>]*>.*</[a-z][^<>]*>|<!--.*?(?:-->|\z)|<!\[CDATA\[.*?(?:\]\]>|\z)",
            rf"(?m)^[ \t]*<[a-zA-Z!/][^<>\n@]*>{_TO_PARAGRAPH_END}|<[a-zA-Z!/][^<>\n@]*>",
            # Messages with a time and a name, shells, subtitles, headings of verses, diffs: to the end of the paragraph.
            rf"(?m)^[ \t]*(?:{_CLOCK}[ \t,–-]*<?{_NAME}>?[ \t]*[:>]|{_NAME} ?(?:[—–-] ?)?[\[(]?\d{{1,2}}[:.]\d{{2}}(?: ?[apAP][mM])?[\])]?[ \t]*(?::|$)|{_NAME} ?[—–-] ?(?i:today|yesterday)){_TO_PARAGRAPH_END}",
            r"(?m)^[ \t]*(?:\$ |# (?:cat|ls|curl|tail|head)\b|>>> |\w+@[\w.-]+[:~][^$#\n]*[$#] |PS [A-Z]:\\|[\d:.,]+ --> |\[[\pL\d]+(?: [\pL\d]+){0,2}\][ \t]*$)"
            + _TO_PARAGRAPH_END,
            rf"(?m)^(?:diff --git |--- (?:a/|/|\S+\.\w)|\+\+\+ \S|@@ ){_TO_PARAGRAPH_END}",
            # Comments, quoted lines, logs, rows of tables, lines of a transcript with times.
            r"(?m)^[ \t]*(?:(?://|# |-- |;+ |%+ |<!--|(?i:rem) )|[>│┃]|[\w.-]{1,20}> )[^\n]*",
            rf"(?m)^[ \t]*(?:[\[(]?\d{{4}}-\d\d-\d\d[T ,]\d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[ :\t]|[A-Z][a-z]{{2}} +\d{{1,2}} \d\d:\d\d:\d\d |\d{{1,3}}(?:\.\d{{1,3}}){{3}} - |Traceback \(most|File \"[^\"]+\", line \d|at [\w.$<>]+\("
            rf"|{_STAMP}[ \t]+[^\s:]+:?[ \t]+(?i:i|ich|je|yo)\b|(?:\d+[a-f]|[a-f]+\d)[0-9a-f]{{5,38}} )[^\n]*|(?m)^[^|<\n]*\|[^|\n]*\|[^\n]*|[^\n]*[\x{{202A}}-\x{{202E}}\x{{2066}}-\x{{2069}}][^\n]*",
            rf"(?m)^[ \t]*{_STAMP}[ \t]+\pL[^\n]*(?:\n[ \t]*{_STAMP}[ \t]+\pL[^\n]*)+",
            # Brackets of words, fields of a prompt, and two equal lines of signs with the text between them.
            r"(?is)\[(?:start|begin)\b[^\]\n]*\].*?(?:\[(?:end|stop)\b[^\]\n]*\]|\z)|\[quote[^\]\n]*\].*?(?:\[/quote\]|\z)|\\begin\{.*?(?:\\end\{[^}\n]*\}|\z)|♪.*?(?:♪|\z)|(?-i)(?m:^)[-=*# \t]*BEGIN\b[^\n]*\n.*?(?:\n[-=*# \t]*END\b[^\n]*|\z)",
            r"(?ims)^[ \t#*]*(?:context|passage|documents?|sources?|input|text|article|data|content|excerpt)[ \t]*\d*[*]*:.*?^[ \t#*]*(?:question|query|task|instructions?|answer|output)[*]*:",
            "|".join(
                rf"(?ms:^[ \t]*{sign}{{3,}}[ \t]*\n.*?^[ \t]*{sign}{{3,}}[ \t]*$)"
                for sign in r"- = \* _ # \+ ~".split()
            ),
        ),
    )
)
CELL_END = re2.compile(r"[,;](?:[^\s\d,;]|\d{1,2}\b|\d{4,})|\t|\"[,;]\"")  # "Liv,34", but not "Liv, 34" or "1,000"

# ---- Pastes whose end is a guess
_HEADER = r"(?:from|to|cc|bcc|subject|date|sent|reply-to|author|von|an|kopie|gesendet|betreff|datum|de|à|objet|envoyé|para|asunto|fecha)"
_SIGN_OFF = (
    r"(?:(?:kind|best|warm|many|with)?[ \t]*(?:kind )?(?:regards|wishes|greetings)|cheers|best|love|sincerely|yours(?: \w+)?|thanks|many thanks|mit (?:\w+ )?gr(?:ü|ue)(?:ß|ss)en|(?:viele|liebe|beste|sch(?:ö|oe)ne) gr(?:ü|ue)(?:ß|ss)e"
    r"|cordialement|bien (?:à|a) (?:vous|toi)|bien cordialement|un saludo|saludos|sent from my [^\n]{1,30}|-- ?)[ \t]*[,.!]?[ \t]*$"
)
SIGN_OFF = re2.compile(rf"(?im)^[ \t]*{_SIGN_OFF}")
MAIL = re2.compile(
    rf"(?im)^[ \t*]*(?:{_HEADER}[ \t*]*:[^\n]+\n[ \t*]*{_HEADER}[ \t*]*:|(?:subject|betreff|objet|asunto)[ \t*]*:|(?:from|von|de)[ \t*]*:[^\n]*(?:@|$)|commit [0-9a-f]{{7,}}"
    r"|(?:on|am|le|el) [^\n]+ (?:wrote|schrieb[^\n:]*|a écrit|escribió) ?:[ \t]*$|-{2,}[ \t]*(?:original|forwarded|begin|weitergeleitet|ursprüngliche|message transféré)[^\n]*$|begin forwarded message|fwd?: [^\n]+$"
    r"|(?:dear|sehr geehrte[rs]?|estimad[oa]|chers?|chère) [^\n]+?,?[ \t]*$)|(?-i:[.?!:][ \t]+(?:From|Subject|Von|Betreff|De|Objet):[ \t]*\S)"
    # A greeting is that of a letter if more text follows after the signature.
    rf"|^[ \t]*(?:hi|hello|hey|hallo|guten tag|bonjour|salut|hola|ciao)\b[^\n,.!?]{{0,40}},[ \t]*$(?s:.*?\n)[ \t]*{_SIGN_OFF}(?s:.*?)\n[ \t]*\n\s*\S"
)
_KIND_OF_NOTE = (
    r"(?:message|note|prompt|result|output|response|override|update|says|instructions?|notice|alert|log|entry)"
)
ROLE = re2.compile(
    rf"(?im)^[ \t]*[\[<|*#({{]*[ \t]*{MACHINE}(?:[ _-]{_KIND_OF_NOTE}){{0,2}}(?: (?:to|for) [^:\n]{{1,60}})?[ \t]*[\])>|*]*:|^[ \t]*[\[(]{MACHINE}(?:[ _-]\w+){{0,2}}[\])]|^[ \t]*\"?role\"?[ \t]*[:=]"
    rf"|^[ \t]*(?:memory|extractor)[ _-]{_KIND_OF_NOTE}[^:\n]{{0,60}}:|\b(?:to|for) (?:the |any )?(?:memory|extractor)(?:[ _-]\w+)?[ \t]*:|<\|[^|>\n]{{1,40}}\|>|\[/?INST\]|<</?SYS>>|^#{{2,}}[ \t]*(?:system|user|instructions?|response|human|assistant)\b"
    rf"|(?-i:[.!?…:][ \t]+[\[<(]?(?:SYSTEM|System|ASSISTANT|Assistant|USER|user|DEVELOPER|TOOL|ADMIN|Human)(?i:[ _-]{_KIND_OF_NOTE}(?: (?:to|for) [^:\n]{{1,60}})?)?[\])>]?:[ \t])"
)
IS_ROLE = re2.compile(rf"(?i)^[\[<|*#({{]*{MACHINE}[\])>|*:]*$")
# A change of subject after pasted text, or a question about it: "What does this mail want from me?"
RESUMES = re2.compile(
    r"(?i)^[ \t]*(?:by the way|btw|anyway|anyhow|on another note|unrelated|apart from (?:that|this)|other than that|back to (?:me|us)|for (?:your )?context|as for (?:me|myself)|about me|that(?:['’]s| is| was) (?:all|it|the \w+)"
    r"|end of (?:the )?\pL+|übrigens|nebenbei|abgesehen davon|au fait|(?:à|a) propos|sinon|soit dit en passant|por cierto)\b"
    rf"|(?i)^[^.!?\n]{{0,60}}\b(?:this|that|the|dies\w*|die|der|ce|cet|cette|le|la)[ \t]+(?:\w+[ \t]+)?{SOURCE}\b[^.!?\n]{{0,80}}\?"
)

# ---- Quotations
QUOTATION = re2.compile(
    r"(?s)(?:^|[\s(:,;\[—–*-])((?:[“„”«»\"]\s?[^“„”«»\"]+[”“»«\"])(?:$|[\s.,;:!?)…\]—–*-]))"
    r"|(?:(?:[,:]|\b(?i:said|says|wrote|writes|replied|answered|reads|sagte?|schrieb|dit))\s?|[\s(])(['‘‚](?:\p{Lu}|i\b)[^\n]{0,600}?[.!?…,]?['’‘])(?:$|[\s.,;:!?)])"
)
IS_SPEECH = re2.compile(
    r"(?i)\b(?:i|i['’]m|i['’]ve|my|me|we|our|ich|mein\w*|wir|je|j['’]\w+|mon|ma|mes|nous)\b|(?:\w+\W+){6}"
)
ENDS_WITH_VERB = re2.compile(
    r"(?i)(?:\b(?:said|says|wrote|writes|replied|answered|texted|reads|goes|told \w+|sagte?|schrieb|dit)|écrit)[ \t]*:?[ \t]*$"
)
ENDS_SENTENCE = re2.compile(r"[.!?…]\W{0,2}$")

# ---- Role play
_YOU_ARE = r"(?:you(?:['’]re| are|['’]ll be| be| play)|du (?:bist|spielst)|tu (?:es|fais|joues)|vous (?:êtes|faites|jouez)|tú (?:eres|haces de))"
_I_AM = r"(?:i['’]?m|i am|i['’]ll (?:be|play)|i will (?:be|play)|ich (?:bin|spiele)|je (?:suis|fais|joue)|yo (?:soy|hago de))"
_A_ROLE = r" (?:(?:an?|the|my|your|eine?|der|die|une?|le|la|una?|el) |(?-i:\p{Lu}))"
# A scene for two lasts until it is closed.
SCENE_OPENS = re2.compile(
    rf"(?i)\brole-?play\w*|\b(?:let['’]?s|pretend|imagine|suppose|spielen wir|jouons|on joue|juguemos|lass uns|faisons|tu so)\b[^.!?\n]{{0,80}}\b(?:roles?|rôles?|rollen?|papel\w*|scene|scène|szene|dungeons|characters?|{_YOU_ARE}\b)"
    rf"|\b{_YOU_ARE}{_A_ROLE}[^.!?\n]{{1,60}}?(?:,|\b(?:and|und|et|y)\b)[^.!?\n]{{0,8}}\b{_I_AM}{_A_ROLE}|\b{_I_AM}{_A_ROLE}[^.!?\n]{{1,60}}?(?:,|\b(?:and|und|et|y)\b)[^.!?\n]{{0,8}}\b{_YOU_ARE}{_A_ROLE}"
    r"|\b(?:stay|be|remain) in character\b|rollenspiel|jeu de rôle|mise en situation|juego de rol"
)
# A scene that the speaker plays or tells alone, or a role with a name, lasts to the end of the paragraph.
SCENE_ALONE = re2.compile(
    r"(?i)\blet['’]?s pretend\b|\bimagine (?:an?|the) \w+|\b(?:pretend|imagine|suppose)\b[^.!?\n]{0,30}\b(?:i['’]?m|i am|i were|i was|that i|to be)\b|\bin (?:this|my|our|the) (?:story|game|novel|book|scene|play|campaign|dream|movie|film|script)\b"
    r"|\b(?:my|the) (?:character|avatar|hero|heroine|narrator|protagonist)\b|\bonce upon a time\b|\b(?:chapter|scene) (?:one|two|three|\d+)\b|\b(?:write|tell|continue|here is|here's)\b[^.!?\n]{0,60}\b(?:story|monologue|diary entry|novel|fan ?fiction|screenplay|song|poem|scene)\b"
    r"|stell dir vor,? ich|tu so,? als (?:ob|wäre) ich|in meiner geschichte|imagine[zs]? que (?:je|j['’])|supposons que (?:je|j['’])|(?:fais|faites|faisons) comme si (?:je|j['’])|dans mon (?:histoire|roman)|imagina que (?:yo )?(?:soy|estoy|fuera)|finjamos que|en mi (?:historia|novela)"
    r"|(?:^|[.!?\n][ \t]*)(?:please )?(?:(?:act|behave|respond|answer|speak|talk) (?:as|like) (?-i:\p{Lu})[\pL ]*[.!\n]|play the (?:part|role) of [^.!?\n]+[.!\n]|you are (?:now )?(?-i:\p{Lu}\w*(?: \p{Lu}\w*)*)[.!\n])"
)
SCENE_CLOSES = re2.compile(
    r"(?i)\b(?:(?:ok|okay|right|and)?,? ?stop(?: it| here| now)?[,.!]|i['’]m me again|(?:end|out) of (?:the )?(?:game|scene|role-?play|character|story)|back to (?:reality|normal|real life|me)"
    r"|(?:game|scene|role-?play|story) over|no more pretending|enough (?:of that|pretending|role-?play\w*)|in real life|for real now|ende des spiels|spiel vorbei|im echten leben|schluss (?:mit dem spiel|jetzt)|fin (?:du jeu|de la scène|del juego)|on arrête(?: là| le jeu)?|(?:je suis|c['’]est) (?:de nouveau |à nouveau |redevenue? )?moi|dans la vraie vie|fuera de broma|en la vida real)"
)

# ---- Signs that a message may hand over a text, most of them of layout
LAYOUT = re2.compile(r"[\[\]{}|^]|__|=[\w\"']|<[\pL /!-]|>[\w ]|(?:^|\s)(?:--+|//|#)|\s/\s[^\n]*\s/\s|(?m:^)\s*[–—]\s")
INTRODUCES = re2.compile(r"\s?:(?:\s|$)|\s[-–—]\s")
LETS = re2.compile(r"(?i)\b(?:let['’]?s|lass(?:t)? uns|faisons|jouons|juguemos|facciamo)\b")
GIVES_ROLE = re2.compile(
    r"(?i)^\W*(?:you(?:['’]re| are)(?: now)?|du bist|tu es|vous êtes|(?:tú )?eres) (?:(?:an?|the|my|eine?|une?|mon)\b|(?-i:\p{Lu}))"
)
