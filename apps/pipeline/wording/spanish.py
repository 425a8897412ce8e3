"""Spanish in English words."""

from apps.pipeline.wording.tongue import tongue

SPANISH = tongue(
    name="es",
    stemmer="spanish",
    table="""
the: el | la | los | las
a: un | una
of: de | del
not: no | ningún | ninguna | ninguno
not anymore: ya no | no más
never: nunca | jamás
without: sin
and: y | e
or: o
with: con
to: a | al
in: en
near: cerca de | al lado de
for: por | para
from: desde
under: debajo de
behind: detrás de
before: antes de
after: después de
until: hasta
between: entre
User: a user
is: llama | es | son | está | se llama | trabaja de | trabaja como | está empleado como | está empleada como
is: ejerce de | ejerce como
is from: es de | viene de | viene del | es originario de | procede de
was: era | fue | estaba
has: tiene | tienen | posee | hay | padece | padece de | sufre de | sufre
had: tenía | tuvo
can: puede | sabe
must: debe | tiene que
wants: quiere | quisiera | desea | le gustaría
perhaps: quizás | quizá | tal vez
probably: probablemente
also: también
only: solo | sólo | solamente
always: siempre
often: a menudo | frecuentemente | con frecuencia
sometimes: a veces
rarely: rara vez | raramente
usually: normalmente | suele
all: todos | todas | todo
most: la mayoría de
some: algunos | algunas
works: trabaja | está empleado | está empleada
worked: trabajó | trabajaba | trabajado
lives: vive | reside | habita
lived: vivió | vivía | vivido
likes: le gusta | le gustan | le encanta | le encantan | le gusta mucho | le gustan mucho | adora | ama | disfruta de
likes: gusta | encanta
hates: odia | detesta | no le gusta | no le gustan | no soporta | no le gusta nada
prefers: prefiere
favourite: favorito | favorita | preferido | preferida
eats: come
ate: comió | comido
drinks: bebe | toma
drank: bebió | bebido
buys: compra
bought: compró | se compró | comprado | adquirió
sells: vende
sold: vendió | vendido
moved: se mudó | mudado | se trasladó
travels: viaja
travelled: viajó | viajado | hizo un viaje
trip: viaje
plays: juega | toca
played: jugó | tocó
studies: estudia | aprende
learned: estudió | aprendió
teaches: enseña
speaks: habla
spoke: habló
reads: lee
smokes: fuma
runs: corre | sale a correr
swims: nada
costs: cuesta
pays: paga
earns: gana
needs: necesita
begins: empieza | comienza
began: empezó | comenzó
ends: termina | acaba
stopped: dejó de | dejado de
visits: visita
visited: visitó
met: conoció | se reunió con
stolen: robado | robaron | robada | robó
born: nació | nacido | nacida
died: murió | falleció
is spouse of: está casado con | está casada con
spouse: casado | casada | esposo | esposa
married: se casó con | se casó
passed: aprobó
failed: suspendió
fears: tiene miedo a | tiene miedo de | teme
allergic: alérgico | alérgica | alergia
job: empleo | puesto | profesión
: de profesión
work: trabajo
company: empresa | compañía
boss: jefe | jefa
doctor: médico | médica
teacher: profesor | profesora | maestro | maestra
nurse: enfermero | enfermera
house: casa
flat: piso | apartamento
car: coche | carro | auto
bike: bicicleta | bici
dog: perro | perros
cat: gato | gatos
child: hijos | niños
holiday: vacaciones
money: dinero
rent: alquiler
meat: carne
friend: amigo | amiga | amigos
sister: hermana | hermanas
brother: hermano | hermanos
mother: madre
father: padre
has : es padre de | es madre de
son: hijo
daughter: hija | hijas
wife: mujer
husband: marido
uncle: tío
aunt: tía
cousin: primo | prima | primos
grandmother: abuela
grandfather: abuelo
in-law mother: suegra
in-law sister: cuñada
in-law brother: cuñado
in-law father: suegro
big: grande | gran
small: pequeño | pequeña
old: viejo | vieja
young: joven
good: bueno | buena
bad: malo | mala
warm: caliente
cold: frío | fría
early: temprano
late: tarde
much: mucho
little: poco
more: más
less: menos
red: rojo | roja
blue: azul
green: verde
black: negro | negra
white: blanco | blanca
left-hand: izquierda | izquierdo
right-hand: derecha | derecho
january: enero
february: febrero
march: marzo
april: abril
in May: en mayo
may: mayo
june: junio
july: julio
august: agosto
september: septiembre
october: octubre
november: noviembre
december: diciembre
monday: lunes
tuesday: martes
wednesday: miércoles
thursday: jueves
friday: viernes
saturday: sábado | sábados
sunday: domingo | domingos
summer: verano
autumn: otoño
spring: primavera
winter: invierno
morning: mañana | por la mañana
evening: por la tarde
night: noche | por la noche
yesterday: ayer
today: hoy
last: pasado | pasada | último | última
next: próximo | próxima
year: año | años
month: mes | meses
week: semana | semanas
day: día | días
hour: hora | horas
minute: minuto | minutos
every day: cada día | todos los días | al día | por día | a diario | diariamente
every week: cada semana | todas las semanas | a la semana | por semana
every month: cada mes | todos los meses | al mes | por mes
every year: cada año | todos los años | al año | por año
every morning: cada mañana | todas las mañanas
every night: cada noche | todas las noches
2 times: dos veces
3 times: tres veces
: se | le | les | lo | que | su | sus | muy | hace | desde hace | tomar | como | ya | él | ella | actualmente
0: cero
2: dos
3: tres
4: cuatro
5: cinco
6: seis
7: siete
8: ocho
9: nueve
10: diez
11: once
12: doce
13: trece
14: catorce
15: quince
16: dieciséis
17: diecisiete
18: dieciocho
19: diecinueve
20: veinte
21: veintiuno
22: veintidós
23: veintitrés
24: veinticuatro
25: veinticinco
26: veintiséis
27: veintisiete
28: veintiocho
29: veintinueve
30: treinta
40: cuarenta
50: cincuenta
60: sesenta
70: setenta
80: ochenta
90: noventa
100: cien | ciento
1000: mil
""",
)
