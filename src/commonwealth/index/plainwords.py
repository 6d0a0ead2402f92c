"""Words that say little of what a text about code is about. As stems.

`HOLLOW` are the commonest of English beyond `words.STOP` and of any request to a coding tool: they say nothing. `LOOSE`
name things that every program has: they say something together with others.
"""

from __future__ import annotations

_HOLLOW = """
abl about abov across act actual ad add addit again against ago ahead ai ain all allow almost alon along alreadi
also although alwai anoth answer anybodi anyon anyth anywai appear appli applic approach argument around articl asap
asid ask assign assist attempt awai back bad base basic becom befor begin behavior behaviour behind believ below
best better between big bit bot both bottom box brain branch break bring broken btw bug built bump bunch call came
can't cannot care case certain certainli chang chat check choos class claud clean cleanup clear clearli close code
codebas codex coffe come comment commit common compar compil complet compon consid content context continu convert
copi correct correctli coupl cours crash creat current cut dai decid decis default defin delet describ design detail
dev develop diff differ difficult direct directli doc done down dure each earli easi easili edit editor effect
effort eight either els end enough entir error especi etc even ever everi everybodi everyon everyth exactli exampl
execut exist expect explain explan express extra fact fail failur far fast feel few figur file fill final find fine
finish first five fix folder follow form formatt forward found four framework fresh full fulli fun function further
fyi gave gener get give given go goal goe gone gonna good got gotta gpt great group guess gui guid half hand handi
handl happen happi hard hardli head hear hei hello help helper henc high hint hm hmm hold hope hour howev huge hundr
hungri idea im imo implement improv includ inde info inform initi insid instal instanc instead integr interest
intern invalid investig involv issu itself iv joke just keep kick kind know known larg last late later latest lead
learn least leav left less let level lib like line lint linter list littl live ll llm load local logic lol long
longer look lot low lunch made main mainli major make manag mani matter mayb mean meant mention merg method mind
minor minut miss mode more morn most mostli move much multipl name near nearli necessari need never new next nice
night nine nobodi non none normal note noth notic now null number obviou off often oh ok okai old onc onli open
opinion option other otherwis out output over own param paramet pars part particular pass past patch path pattern
peopl perfect perform perhap person pick piec pl place plan pleas plz poem point possibl potenti pr prefer prepar
present pretti previou print probabl problem proce produc program project prompt proper properli properti propos
provid public pull purpos push put question quick quickli quit rather re read readi readm real realli reason rebas
recent ref refactor refer regular relat remain rememb remov renam replac repli repositori requir respond result
return review rewrit right root rule run safe sai said same sampl save scope second section see seem seen select
send sens separ setup seven sever share short show side sign similar simpl simpli sinc singl situat six skip small
solut solv somehow someon someth sometim somewher soon sorri sort sound sourc spec special specif split src stai
start step still stop stori straight string structur stuff style suggest suit summar summari summaris support sure
switch syntax system take taken talk team tell ten test text thank thing think third though thought thousand three
through thx tidi time tini titl todai todo togeth tomorrow took top topic total toward track tri troubl true try
turn tweak two ty typo unclear undefin under understand unit unless unstag until up updat upon usag usual util
variabl variou ve veri verifi via wai wait walk walkthrough wanna want warn watch weather week well went whatev
whether while whole wise wish without won wonder word work world worri wors worth write written wrong wrote ye yeah
year yep yesterdai yet
"""

_LOOSE = """
account action admin agent api app arrai attribut auth authent backend build button cli click client cloud cluster
color colour column config configur consol contain count csv custom data databas date debug depend deploi deploy
directori document download element email endpoint environ event except export featur field filter format frontend git
handler header host http id imag import index input interfac item job json kei layout librari link log login loop
machin mail map memori menu messag metadata model modul network node object order packag page parser payload permiss
plugin port process product profil python queri rang record releas repo report request respons role rout router row
schema screen script search secur server servic session set stack stage state statu storag store stream sync tabl tag
task templat thread timer token tool tree type ui upload url user valid valu version view web websit window worker
"""

HOLLOW = frozenset(_HOLLOW.split())
LOOSE = frozenset(_LOOSE.split())
