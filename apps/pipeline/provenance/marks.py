"""The marks of material that is not its sender's own: of blocks, lines and pastes, and the words of four languages."""

import re

import re2

# Labels before a speaker's own words: "Reminder: I'm vegan". Other words before a colon may be a name.
OWN_LABELS = frozenset(
    "reminder note ps update edit correction fyi btw context background also important question answer summary info fact"
    " facts profile bio about status today yesterday tomorrow goal goals plan plans preference preferences diet health"
    " allergy allergies hobby hobbies job work location home family age city language languages education budget"
    " monday tuesday wednesday thursday friday saturday sunday me us personal hint disclaimer warning remember"
    " task problem issue request situation requirements hi hello hey ok okay yes no well so thing news deal short clear"
    " truth honest honestly point spoiler confession finally conclusion result reason reasons because"
    " record things simple go re aw listen anyway exception rule next drink sleep money pets record part bit upside side note self neues neuigkeit neuigkeiten nachtrag korrektur nouvelle nouvelles hinweis erinnerung frage rappel beruf wohnort familie übrigens wichtig question".split()
)
MACHINE = r"(?:system|assistant|developer|tool|user|human|ai|(?:chat)?bot|function|model|llm|admin(?:istrator)?|chatgpt|claude|gemini|copilot|systemnachricht|système|sistema)"
# What a text can stand in or come from; words of four letters and more also end compounds: "voicemail", "Sprachnachricht".
SOURCE = (
    r"(?:\pL*(?:mail|letter|paragraph|sentence|story|poem|essay|article|message|transcript|review|abstract|report|chapter|passage|dialogue|conversation|excerpt|testimonial|document|summary|quote|lyrics|caption|subtitle|tweet|speech|resume|résumé"
    r"|output|response|page|site|readme|ticket|comment|note|snippet|file|memo|notice|advert|description|instruction|prompt|blog|forum|reddit|survey|export|search|query|screenshot|script|recording|dictation|profile|linkedin"
    r"|nachricht|brief|artikel|seite|ausgabe|kommentar|notiz|zettel|protokoll|abschrift|untertitel|courriel|lettre|légende|réponse|nota|carta|mensaje|correo)(?:e?s|e[nr]|en)?"
    r"|texts?|texte|texto|drafts?|scans?|postcards?|posters?|flyers?|essay|posts?|logs?|chats?|bio|ad|cv|ocr|pdf|til|fax|sms|dm|quiz|essays|note de service)"
)
FIRST_PERSON = re2.compile(
    r"(?i)\b(?:i|i['’]\w+|me|my|mine|we|our|us|ich|mein\w*|mir|wir|je|j['’]\w*|mon|ma|mes|moi|yo|mi|mis|soy|vivo|tengo|estoy)\b"
)
THIRD_PERSON = re2.compile(
    r"(?i)^\W*(?:the|his|her|their|der|die|das|sein\w*|ihr\w*|le|la|sa|son|ses|su|sus)\b|['’]s\b"
)
SPEAKS = re2.compile(
    r"(?i)\b(?:wrote|writes|written|replied|answered|texted|messaged|e-?mailed|posted|said|says|saying|sent|told|tells|asked|claims|claimed|stated|states|reads|goes|returned|returns|printed|prints|shows|dictated|dictates"
    r"|schrieb|schreibt|geschrieben|sagte|sagt|gesagt|meinte|meint|antwortete|diktierte|a écrit|a dit|dit|répond|dicté|escribió|dijo|dictó)\b|\b(?:il|elle|on|\pL+) écrit\b"
)
# "As I said:", "what I told him:": the speaker's own words.
SPEAKS_SELF = re2.compile(
    r"(?i)\b(?:i|we|i['’]ve|ich|wir|je|j['’]ai)(?: \w+)? (?:wrote|said|say|told|replied|answered|texted|mentioned|sagte|schrieb|dit|sent|asked|posted)\b[^:]*$"
)
AS_I_SAID = re2.compile(
    r"(?i)^(?:as|like|wie|comme|como) (?:i|ich|je)(?: \w+|['’]\w+){1,3}(?: before| already| earlier| schon| déjà)?\s?[,:] "
)
ABOUT_SPEAKER = re2.compile(
    r"(?i)\b(?:about (?:me|myself|us)|remember|note that|note down|keep in mind|(?:in|long story) short|you(?:['’]ve| have)? (?:just )?(?:asked|wanted to know)|for (?:you|your [\pL]+)|to (?:self|myself)|reminder|facts?|preferences|correction|merk dir|denk daran|souviens-toi|retiens)\b|über mich|à propos de moi"
)
_POLITELY = r"(?i)^\W*(?:(?:please|pls|hey|hi|ok|now|also|and|then|bitte),? )*(?:(?:can|could|would|will|kannst|könntest|peux-tu) (?:you |du )?(?:please |bitte )?|(?:I (?:want|need) you|I'd like you) to |help me (?:to )?){0,3}"
# Verbs whose object is always a text or a list.
TASK = re2.compile(
    rf"{_POLITELY}(?:(?:act|behave|respond|answer) (?:as|like)|translate|summari[sz]e|rewrite|re-?phrase|paraphrase|proof-?read|spell[- ]?check|classify|refactor|transcribe|debug|(?:sort|order|rank|group|classify|fix|tidy up|clean up|correct|edit|improve|shorten|polish|explain|review|check) (?:the|this|these|my) (?:spelling|grammar|\w* ?{SOURCE}|code|script|quer\w+|rows?|lines?|lists?|tables?|csv|data|words|names)|(?:sort|refactor|fix|review|explain|debug) (?:this|these|it) |(?:sort|refactor|fix|explain|review|edit|polish|shorten|improve|explain)[ \t]*$"
    rf"|make (?:an? )?(?:\w+ )?(?:quiz|flash ?cards|table|list) |übersetze?|fasse|korrigiere?|traduis(?:ez)?|traduire|résume[rz]?|corrige[rz]?|traduce|resume|(?:[\pL ]+ )?(?:übersetz|korrigier|zusammenfass|tradui?[rc])\pL*)(?:\b|$)"
)
REQUEST = re2.compile(
    rf"{_POLITELY}(?:correct|edit|improve|shorten|polish|fix|check|review|analy[sz]e|explain|classify|critique|grade|describe|rate|evaluate|guess|simplify|convert|expand|continue|complete|comment on|reply to|respond to|answer|read|parse|extract|write|draft|compose|create|look at|tell me what|repeat|say|fill in|recite|quote|type|sort|erkläre?|prüfe?|lies|explique[rz]?|lis)\b"
)
POINTS_AT_TEXT = re2.compile(
    rf"(?i)\b(?:this|these|that|the following|following|here(?:'s|’s| is| are| comes?)|below|above|dies\w*|folgende\w*|cet(?:te)?|ce|voici|hier ist)\b[^.!?:\n]{{0,50}}\b{SOURCE}\b|\b(?:got|received|found|saw|read|have|erhalten|bekommen|reçu) (?:this|these|the following|das|dies\w*|ça|ceci)\b|\bwhat does (?:this|that|it) (?:say|mean|want)\b|\bis (?:this|that) (?:spam|true|real|legit|phishing)\b"
    rf"|\b(?:the )?(?:text )?above\b|\b(?:to|for) (?:the |all |any )?(?:ai|agents?|assistants?|bots?|models?|llms?)\b"
)
PRESENTS = re2.compile(
    rf"(?i)\b(?:below|here(?:'s|’s| is| are)|the following|attached|voici|hier ist|unten)\b[^.!?:\n]{{0,50}}\b{SOURCE}\b|\b{SOURCE} (?:is )?below\b"
)
POSTSCRIPT = re2.compile(r"(?i)^[ \t]*p\.? ?s\b")
SIGN_OFF = re2.compile(
    r"(?im)^[ \t]*(?:(?:kind|best|warm|many|with)?[ \t]*(?:kind )?(?:regards|wishes|greetings)|cheers|best|love|sincerely|yours(?: \w+)?|thanks|many thanks|mit (?:\w+ )?gr(?:ü|ue)(?:ß|ss)en|(?:viele|liebe|beste|sch(?:ö|oe)ne) gr(?:ü|ue)(?:ß|ss)e"
    r"|cordialement|bien (?:à|a) (?:vous|toi)|bien cordialement|un saludo|saludos|sent from my [^\n]{1,30}|-- ?)[ \t]*[,.!]?[ \t]*$"
)
# A change of subject after pasted text, or a question about it: "What does this mail want from me?"
RESUMES = re2.compile(
    r"(?i)^[ \t]*(?:by the way|btw|anyway|anyhow|on another note|unrelated|apart from (?:that|this)|other than that|back to (?:me|us)|for (?:your )?context|as for (?:me|myself)|about me|that(?:['’]s| is| was) (?:all|it|the \w+)"
    r"|end of (?:the )?(?:mail|e-mail|email|message|letter|text|quote|article|page|paste|transcript|log)|übrigens|nebenbei|abgesehen davon|au fait|(?:à|a) propos|sinon|soit dit en passant|por cierto)\b"
    rf"|(?i)^[^.!?\n]{{0,60}}\b(?:this|that|the|dies\w*|die|der|ce|cet|cette|le|la)[ \t]+(?:\w+[ \t]+)?{SOURCE}\b[^.!?\n]{{0,80}}\?"
)
# A scene for two lasts until it is closed.
SCENE_OPENS = re2.compile(
    r"(?i)\b(?:role-?play\w*|let['’]?s play\b[^.!?\n]{0,60}\b(?:roles?|pretend|dungeons|adventure|scene|characters?|you['’]?re|you are|as)\b"
    r"|(?:pretend|imagine|suppose|let['’]?s (?:say|pretend|play))\b[^.!?\n]{0,80}\byou(?:['’]re| are|['’]ll be| be| play)\b"
    r"|(?:i['’]ll|i will|let me) (?:be|play) [^.!?\n]{1,60}\byou(?:['’]re| are| be| play)\b|\byou(?:['’]re| are| be| play) [^.!?\n]{1,60}\b(?:i['’]ll|i will) (?:be|play)\b"
    r"|\byou(?:['’]re| are) (?:(?:an?|the|my) |(?-i:\p{Lu}))[^.!?\n]{1,60}?(?:,|\band) (?:i['’]?m|i am) (?:(?:an?|the|your) |(?-i:\p{Lu}))|\b(?:i['’]?m|i am) (?:(?:an?|the|your) |(?-i:\p{Lu}))[^.!?\n]{1,60}?(?:,|\band) you(?:['’]re| are) (?:(?:an?|the|my) |(?-i:\p{Lu}))"
    r"|\b(?:stay|be|remain) in character\b|rollenspiel|(?:lass uns|wir) (?:so tun|spielen)|tu so\b[^.!?\n]{0,60}\bdu\b|jeu de rôle|mise en situation|(?:faisons|fais|faites) (?:comme si|semblant)\b[^.!?\n]{0,60}\b(?:tu|vous)\b|juego de rol"
    r"|\b(?:du (?:bist|spielst|wärst)|(?:tu|vous) (?:es|êtes|fais|faites|joues|jouez|seras|serez)|tú (?:eres|haces de|serás))\b[^.!?\n]{1,60}?(?:,|\bund|\bet|\by)(?: moi,?)? (?:ich (?:bin|spiele)|je (?:suis|fais|joue|serai)|yo (?:soy|hago de|seré))\b"
    r"|\b(?:ich (?:bin|spiele)|je (?:suis|fais|joue|serai)|yo (?:soy|hago de|seré))\b[^.!?\n]{1,60}?(?:,|\bund|\bet|\by)(?: toi,?)? (?:du (?:bist|spielst)|(?:tu|vous) (?:es|êtes|fais|faites|joues|jouez|seras|serez)|tú (?:eres|haces de|serás))\b"
    r"|\b(?:jouons|on joue|spielen wir|juguemos)\b[^.!?\n]{0,60}\b(?:rôles?|scène|rollen?|szene|papel(?:es)?|escena|tu (?:es|fais|joues)|vous (?:êtes|faites|jouez)|du (?:bist|spielst)|tú eres)\b)"
)
# A scene that the speaker plays or tells alone lasts to the end of the paragraph.
SCENE_ALONE = re2.compile(
    r"(?i)\b(?:let['’]?s pretend\b|imagine (?:an?|the) \w+|(?:pretend|imagine|suppose)\b[^.!?\n]{0,30}\b(?:i['’]?m|i am|i were|i was|that i|to be)\b|in (?:this|my|our) (?:story|game|novel|book|scene|play|campaign|dream|movie|film|script)\b|in the (?:story|novel|scene|campaign|script|screenplay|role-?play|dream)\b"
    r"|(?:my|the) (?:character|avatar|hero|heroine|narrator|protagonist)\b|once upon a time\b|(?:chapter|scene) (?:one|two|three|\d+)\b"
    r"|(?:write|tell|continue|here is|here's)\b[^.!?\n]{0,60}\b(?:story|monologue|diary entry|novel|fan ?fiction|screenplay|song|poem|scene)\b"
    r"|stell dir vor,? ich|tu so,? als (?:ob|wäre) ich|in meiner geschichte|imagine[zs]? que (?:je|j['’])|supposons que (?:je|j['’])|(?:fais|faites|faisons) comme si (?:je|j['’])|dans mon (?:histoire|roman)|imagina que (?:yo )?(?:soy|estoy|fuera)|finjamos que|en mi (?:historia|novela))"
)
SCENE_CLOSES = re2.compile(
    r"(?i)\b(?:(?:ok|okay|right|and)?,? ?stop(?: it| here| now)?[,.!]|i['’]m me again|(?:end|out) of (?:the )?(?:game|scene|role-?play|character|story)|back to (?:reality|normal|real life|me)"
    r"|(?:game|scene|role-?play|story) over|no more pretending|enough (?:of that|pretending|role-?play\w*)|in real life|for real now|ende des spiels|spiel vorbei|im echten leben|schluss (?:mit dem spiel|jetzt)|fin (?:du jeu|de la scène|del juego)|on arrête(?: là| le jeu)?|(?:je suis|c['’]est) (?:de nouveau |à nouveau |redevenue? )moi|dans la vraie vie|fuera de broma|en la vida real)"
)
# A role with a name: who speaks below is not the speaker.
PLAYS_A_NAME = re2.compile(
    r"(?:^|[.!?\n][ \t]*)(?i:please )?(?:(?i:act|behave|respond|answer|speak|talk) (?i:as|like) \p{Lu}[\pL ]*[.!\n]|(?i:play the (?:part|role) of) [^.!?\n]+[.!\n]|You are (?:now )?\p{Lu}\w*(?: \p{Lu}\w*)*[.!\n])"
)

NO_CHARACTER = re.compile(r"[\ud800-\udfff]")  # lone surrogates, which can't be encoded
SENTENCE_END = re2.compile(r"[.!?…](?:\s|$)|\n")
CLAUSE_ENDS = ".!?…\n;"

# ---- Regions with marks of their own
FENCES = re2.compile(r"(?s)```.*?(?:```|\z)|~~~.*?(?:~~~|\z)|\"\"\".*?(?:\"\"\"|\z)|'''.*?(?:'''|\z)|/\*.*?(?:\*/|\z)")
JSON_OPENS = re2.compile(r"\{\s*[\"'{\[]|\[\s*[\"{\[]")
ELEMENT = re2.compile(r"(?is)<[a-z!][^<>]*>.*</[a-z][^<>]*>|<!--.*?(?:-->|\z)|<!\[CDATA\[.*?(?:\]\]>|\z)")
# After a tag that opens a line, the rest of its paragraph; an address in <> is no tag.
TAG = re2.compile(r"(?ms)^[ \t]*<[a-zA-Z!/][^<>\n@]*>.*?(?:\n[ \t]*\n|\z)|<[a-zA-Z!/][^<>\n@]*>")
LINE_BREAK, BLANK_LINE = re2.compile(r"\n\s*"), re2.compile(r"\n[ \t]*\n\s*")
WRITTEN_LINE = re2.compile(r"(?m)^[^\n]*\S[^\n]*$")
# Two equal lines of signs, with the text between them.
DELIMITED = re2.compile(
    "|".join(rf"(?ms:^[ \t]*{sign}{{3,}}[ \t]*\n.*?^[ \t]*{sign}{{3,}}[ \t]*$)" for sign in r"- = \* _ # \+ ~".split())
)
BRACKETED = re2.compile(
    r"(?is)\[(?:start|begin)\b[^\]\n]*\].*?(?:\[(?:end|stop)\b[^\]\n]*\]|\z)|\[quote[^\]\n]*\].*?(?:\[/quote\]|\z)|\\begin\{.*?(?:\\end\{[^}\n]*\}|\z)|♪.*?(?:♪|\z)"
    r"|(?-i)(?m:^)[-=*# \t]*BEGIN\b[^\n]*\n.*?(?:\n[-=*# \t]*END\b[^\n]*|\z)"
)
FIELDS = re2.compile(
    r"(?ims)^[ \t#*]*(?:context|passage|documents?|sources?|input|text|article|data|content|excerpt)[ \t]*\d*[*]*:.*?^[ \t#*]*(?:question|query|task|instructions?|answer|output)[*]*:"
)

# ---- Lines with marks of their own
NAME = r"(?:\p{Lu}[\pL\w.'-]*(?: \p{Lu}[\pL\w.'-]*){0,2})"
CLOCK = r"[\[(]?(?:[\d/.\-]{4,10}[,T]? ?)?\d{1,2}[:.]\d{2}(?::\d{2})?(?:[.,]\d+)?(?: ?[apAP][mM])?[\])]?"
STAMP = r"[\[(]?\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?[\])]?"
STAMPED = re2.compile(rf"^[ \t]*{STAMP}[ \t]+\pL")
TIMED_MESSAGE = re2.compile(
    rf"^[ \t]*(?:{CLOCK}[ \t,–-]*<?{NAME}>?[ \t]*[:>]|{NAME} ?(?:[—–-] ?)?[\[(]?\d{{1,2}}[:.]\d{{2}}(?: ?[apAP][mM])?[\])]?[ \t]*(?::|$)|{NAME} ?[—–-] ?(?i:today|yesterday)[^\n]*)"
)
DIFF_OPENS = re2.compile(r"^(?:diff --git |--- (?:a/|/|\S+\.\w)|\+\+\+ \S|@@ )")
DIFF_LINE = re2.compile(r"^(?:[-+@ \\]|index |diff )")
COMMENT = re2.compile(r"^[ \t]*(?://|#+ |-- |;+ |%+ |<!--|(?i:rem) )")
QUOTED = re2.compile(r"^[ \t]*(?:[>│┃]|[\w.-]{1,20}> )")
DATA = re2.compile(
    rf"^[ \t]*(?:[\[(]?\d{{4}}-\d\d-\d\d[T ,]\d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[ :\t]|[A-Z][a-z]{{2}} +\d{{1,2}} \d\d:\d\d:\d\d |\d{{1,3}}(?:\.\d{{1,3}}){{3}} - |Traceback \(most|File \"[^\"]+\", line \d|at [\w.$<>]+\("
    rf"|{STAMP}[ \t]+(?:-->|[^\s:]+:?[ \t]+(?i:i|ich|je|yo)\b)|(?:\d+[a-f]|[a-f]+\d)[0-9a-f]{{5,38}} )|^[^|\n]*\|[^|\n]*\||[\x{{202A}}-\x{{202E}}\x{{2066}}-\x{{2069}}]"
)
# A shell's prompt, the time of a subtitle, the heading of a verse or section: what follows in the paragraph belongs to it.
OPENS_PARAGRAPH = re2.compile(
    r"^[ \t]*(?:\$ |# (?:cat|ls|curl|tail|head)\b|>>> |\w+@[\w.-]+[:~][^$#\n]*[$#] |PS [A-Z]:\\|[\d:.,]+ --> |\[[\pL\d]+(?: [\pL\d]+){0,2}\][ \t]*$)"
)
# What an ordinary line has none of, so that it is matched once instead of six times.
ANY_MARK = re2.compile(
    "|".join(
        (r"\d[:.]\d|oday|esterday", *(each.pattern for each in (OPENS_PARAGRAPH, DIFF_OPENS, COMMENT, QUOTED, DATA)))
    )
)
SEPARATORS = frozenset(',;\t"')
CELL_END = re2.compile(
    r"[,;](?:[^\s\d,;]|\d{1,2}\b|\d{4,})|\t|\"[,;]\""
)  # no space: "Liv,34", but not "Liv, 34" or "1,000"
BULLETS = " \t*-•"

# ---- Pastes whose end is a guess
HEADER = r"(?:from|to|cc|bcc|subject|date|sent|reply-to|author|von|an|kopie|gesendet|betreff|datum|de|à|objet|envoyé|para|asunto|fecha)"
MAIL = re2.compile(
    rf"(?im)^[ \t*]*(?:{HEADER}[ \t*]*:[^\n]+\n[ \t*]*{HEADER}[ \t*]*:|(?:subject|betreff|objet|asunto)[ \t*]*:|(?:from|von|de)[ \t*]*:[^\n]*(?:@|$)|commit [0-9a-f]{{7,}}"
    r"|(?:on|am|le|el) [^\n]+ (?:wrote|schrieb[^\n:]*|a écrit|escribió) ?:[ \t]*$|-{2,}[ \t]*(?:original|forwarded|begin|weitergeleitet|ursprüngliche|message transféré)[^\n]*$|begin forwarded message|fwd?: [^\n]+$"
    r"|(?:dear|sehr geehrte[rs]?|estimad[oa]|chers?|chère) [^\n]+?,?[ \t]*$)|(?-i:[.?!:][ \t]+(?:From|Subject|Von|Betreff|De|Objet):[ \t]*\S)"
)
GREETING = re2.compile(r"(?im)^[ \t]*(?:hi|hello|hey|hallo|guten tag|bonjour|salut|hola|ciao)\b[^\n,.!?]{0,40},[ \t]*$")
KIND_OF_NOTE = (
    r"(?:message|note|prompt|result|output|response|override|update|says|instructions?|notice|alert|log|entry)"
)
ROLE = re2.compile(
    rf"(?im)^[ \t]*[\[<|*#({{]*[ \t]*{MACHINE}(?:[ _-]{KIND_OF_NOTE}){{0,2}}(?: (?:to|for) [^:\n]{{1,60}})?[ \t]*[\])>|*]*:|^[ \t]*[\[(]{MACHINE}(?:[ _-]\w+){{0,2}}[\])]|^[ \t]*\"?role\"?[ \t]*[:=]"
    rf"|^[ \t]*(?:memory|extractor)[ _-]{KIND_OF_NOTE}[^:\n]{{0,60}}:|\b(?:to|for) (?:the |any )?(?:memory|extractor)(?:[ _-]\w+)?[ \t]*:|<\|[^|>\n]{{1,40}}\|>|\[/?INST\]|<</?SYS>>|^#{{2,}}[ \t]*(?:system|user|instructions?|response|human|assistant)\b"
    rf"|(?-i:[.!?…:][ \t]+[\[<(]?(?:SYSTEM|System|ASSISTANT|Assistant|USER|user|DEVELOPER|TOOL|ADMIN|Human)(?i:[ _-]{KIND_OF_NOTE}(?: (?:to|for) [^:\n]{{1,60}})?)?[\])>]?:[ \t])"
)
IS_ROLE = re2.compile(rf"(?i)^[\[<|*#({{]*{MACHINE}[\])>|*:]*$")

# ---- Labels, reports and tasks
COLON = re2.compile(r":(?:\*\*)?(?:[ \t]|$|\n|[\"“”„«'‘‚])")
POINTS = re2.compile(rf"(?i){POINTS_AT_TEXT.pattern}|\b(?:this|these|following|below|hier|unten|ci-dessous)\b[^\pL]*$")
TEXT_BEGINS = re2.compile(r"[^ \t\n*]")
OF_A_NAME = re2.compile(
    r"(?i)\b(?:from|by|via|of|von|vom|de|du|d['’])[ ]?(?-i:\p{Lu}|\d)|\b(?:from|via|von|vom) \pL|\d"
)
REPORT = re2.compile(
    rf"(?i)(?:^|[.!?\n][ \t]*)((?:(?:the|this|that|an?|your|der|die|das|le|la) (?:\w+ )?(?:{MACHINE}|{SOURCE})|you|chatgpt|claude|gemini|copilot) (?:just |also |has |have )?(?:said|says|claims?|claimed|told|wrote|writes|states?|stated|thinks?|suggest(?:s|ed)|sagte?|schrieb|dit|dijo)\b[^.!?\n]*?\b(?:that|i|my|dass|ich|que|je)\b[^.!?,\n]*)"
)

# ---- Quotations
PAIRS = {"“": '”“"', "„": '“”"', "«": "»", "»": "«", "”": "”", "‘": "’'", "‚": "‘’'", '"': '"”', "'": "'’"}
QUOTATION_MARKS = "\"“”„«»'‘’‚"
MARK = re.compile(f"[{QUOTATION_MARKS}]")
SINGLE, BEFORE_OPENING, AFTER_CLOSING = "'‘‚", " \t\n(:,;[—–-*", " \t\n.,;:!?)…]—–-*"
IS_SPEECH = re2.compile(
    r"(?i)\b(?:i|i['’]m|i['’]ve|my|me|we|our|ich|mein\w*|wir|je|j['’]\w+|mon|ma|mes|nous)\b|(?:\w+\W+){6}"
)
SAYS = re2.compile(
    r"(?i)(?:\b(?:said|says|wrote|writes|replied|answered|texted|reads|goes|told \w+|sagte?|schrieb|dit)|écrit)[ \t]*$"
)
ENDS_SENTENCE = re.compile(r"[.!?…]\W{0,2}$")
SOURCE_NOUN = re2.compile(rf"(?i)\b{SOURCE}\b")
MY = re2.compile(r"(?i)\b(?:my|our|mein\w*|unser\w*|mon|ma|mes|mis?)\b")
MINE_IS = re2.compile(r"(?i)^\W*(?:my|our|mein\w*|mon|ma|mes|mi)\b.*\b(?:is|are|was|were|ist|sind|est|sont)\b")
PURPOSE = re2.compile(r"(?i)\b(?:for|für|pour|para)\b.*$")  # "Medicines for the letter" are not from the letter
