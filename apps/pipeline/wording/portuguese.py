"""Portuguese in English words."""

from apps.pipeline.wording.tongue import tongue

PORTUGUESE = tongue(
    name="pt",
    stemmer="portuguese",
    table="""
the: o | os | as
a: um | uma
of: de | do | da | dos | das
not: não | nenhum | nenhuma
not anymore: já não | não mais
never: nunca | jamais
without: sem
and: e
or: ou
with: com
to: à | ao | aos | para
in: em | no | na | nos | nas | num | numa
near: perto de | perto do | perto da | ao lado de
for: por
until: até
between: entre
before: antes de
after: depois de
is: é | são | está | chama-se | se chama | trabalha como | está empregado como | trabalha de
in-law mother: sogra
in-law father: sogro
is from: é de | é do | é da | vem de | vem do | vem da
was: era | foi
has: tem | têm | possui | há
had: tinha | teve
can: pode | sabe
must: deve | tem que | tem de
wants: quer | gostaria de | deseja
perhaps: talvez
probably: provavelmente
also: também
only: só | somente | apenas
always: sempre
often: frequentemente | muitas vezes | com frequência
sometimes: às vezes
rarely: raramente
usually: normalmente | geralmente
all: todos | todas | tudo
most: a maioria dos | a maioria das
some: alguns | algumas
works: trabalha | é empregado | é empregada | está empregado | é funcionário | é funcionária
worked: trabalhou | trabalhava
lives: mora | vive | reside
lived: morou | morava | viveu | vivia
likes: gosta | gosta de | gosta do | gosta da | gosta dos | gosta das | gosta muito de | ama | adora
hates: odeia | detesta | não gosta de | não gosta do | não gosta da | não suporta
prefers: prefere
favourite: favorito | favorita | preferido | preferida
eats: come
drinks: bebe | toma
buys: compra
bought: comprou | comprado | adquiriu
sells: vende
sold: vendeu
moved: mudou-se | se mudou
travels: viaja
travelled: viajou | fez uma viagem
plays: joga | toca
played: jogou | tocou
studies: estuda | aprende
learned: estudou | aprendeu
teaches: ensina | dá aulas de
speaks: fala
reads: lê
smokes: fuma
runs: corre
swims: nada
costs: custa
pays: paga
earns: ganha
needs: precisa de | precisa
begins: começa
began: começou
ends: termina | acaba
stopped: deixou de | parou de
visits: visita
visited: visitou
born: nasceu | nascido
died: morreu | faleceu
married: casou-se | casou | se casou
is spouse of: é casado com | é casada com | está casado com | está casada com
spouse: casado | casada
fears: tem medo de | teme
allergic: alérgico | alérgica | alergia
job: emprego | profissão
: de profissão
work: trabalho
company: empresa
boss: chefe | patrão
doctor: médico | médica
teacher: professor | professora
nurse: enfermeiro | enfermeira
engineer: engenheiro | engenheira
house: casa
flat: apartamento
car: carro
bike: bicicleta
dog: cachorro | cão | cachorros | cães
cat: gato | gatos
child: filhos | crianças
holiday: férias
money: dinheiro
rent: aluguel | renda
meat: carne
football: futebol
friend: amigo | amiga
sister: irmã | irmãs
brother: irmão
siblings: irmãos
mother: mãe
father: pai
has : é pai de | é mãe de
son: filho
daughter: filha | filhas
wife: esposa | mulher
husband: marido
uncle: tio
aunt: tia
cousin: primo | prima
grandmother: avó
grandfather: avô
big: grande
small: pequeno | pequena
old: velho | velha
young: jovem
early: cedo
late: tarde
much: muito
little: pouco
more: mais
less: menos
red: vermelho | vermelha
blue: azul
green: verde
black: preto | preta
white: branco | branca
left-hand: esquerda | esquerdo
right-hand: direita | direito
january: janeiro
february: fevereiro
march: março
april: abril
in May: em maio
may: maio
june: junho
july: julho
august: agosto
september: setembro
october: outubro
november: novembro
december: dezembro
monday: segunda-feira | segundas
tuesday: terça-feira | terças
wednesday: quarta-feira | quartas
thursday: quinta-feira | quintas
friday: sexta-feira | sextas
saturday: sábado | sábados
sunday: domingo | domingos
summer: verão
autumn: outono
spring: primavera
winter: inverno
morning: manhã | de manhã
night: noite | à noite
yesterday: ontem
today: hoje
tomorrow: amanhã
last: passado | passada | último | última
next: próximo | próxima
year: ano | anos
month: mês | meses
week: semana | semanas
day: dia | dias
hour: hora | horas
every day: todo dia | todos os dias | por dia | diariamente | cada dia
every week: toda semana | todas as semanas | por semana | semanalmente
every month: todo mês | todos os meses | por mês | ao mês
every year: todo ano | todos os anos | por ano
every morning: toda manhã | todas as manhãs
2 times: duas vezes
3 times: três vezes
: se | que | seu | sua | seus | suas | ele | ela | já | como | dele | dela | atualmente
0: zero
2: dois | duas
3: três
4: quatro
5: cinco
6: seis
7: sete
8: oito
9: nove
10: dez
11: onze
12: doze
13: treze
14: catorze | quatorze
15: quinze
16: dezesseis
17: dezessete
18: dezoito
19: dezenove
20: vinte
30: trinta
40: quarenta
50: cinquenta
60: sessenta
70: setenta
80: oitenta
90: noventa
100: cem | cento
1000: mil
""",
)
