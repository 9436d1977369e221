"""Words that carry grammar and tell nothing, by language.

A list serves texts of its own language only: "hat" is German for "has".
"""

from __future__ import annotations

__all__ = ["STOP_WORDS"]

STOP_WORDS = {
    "en": "a about above across after again against all along also am among an and another any are around as at away "
    "back be because been before behind being below beside between both but by can could did do does doing down "
    "during each either else ever every for from front get gets getting go goes going got had has have having "
    "he her here hers him his how i if in inside into is isn it its itself just like made make many may me "
    "might more most much must my near no nor not now of off on once one only onto or other others our out "
    "outside over own past per same several shall she should since so some someone something still such take "
    "taken takes than that the their them then there these they this those three through to together too toward "
    "towards two under until up upon us use used using very was we well were what when where which while who "
    "whom whose why will with within without would yet you your",
    "de": "aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da "
    "dabei damit dann das dass dein dem den denn der des dessen die dies diese diesem diesen dieser dieses doch "
    "dort du durch ein eine einem einen einer eines einige er es etwas euch für gegen hab habe haben hat hatte "
    "hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden "
    "jeder jedes kann kein keine können man mehr mein mich mir mit nach neben nicht noch nun nur ob oder ohne "
    "schon sehr sein seine seinem seinen seiner sich sie sind so über um und uns unter vom von vor war waren "
    "was wenn werden wie wieder wir wird wo zu zum zur zwei zwischen",
    "fr": "à au aussi autre aux avec avoir c'est ce ces cet cette chez comme d dans de des deux devant donc du elle "
    "elles en entre est et été être eu fait hors il ils je j l la le les leur leurs lui m ma mais me mes moi "
    "mon n ne nos notre nous on ont ou où par pas plus pour qu que quel quelle qui s sa sans se ses si son sont "
    "sous sur t ta te tes toi ton tous tout toute très tu un une vers vos votre vous y",
    "es": "a al algo ante antes aquí así aún aunque bajo cada como con contra cual cuando de del desde donde dos "
    "durante e el ella ellas ellos en entre era es esa ese eso esta está están este esto estos ha han hasta hay "
    "la las le les lo los más me mi mientras mis muy nada ni no nos o otra otro para pero poco por porque que "
    "qué quien se sea según ser si sí sin sobre son su sus también tan tiene todo todos tras tu un una uno unos "
    "y ya yo",
    "it": "a ad ai al alla alle allo anche c che chi ci come con contro cui d da dai dal dalla delle dei del della "
    "dello di dove due e è ed era essere fra fuori gli ha hanno i il in io l la le lei li lo loro lui ma mentre "
    "mi mio molto ne nei nel nella nelle no noi non o ogni per però più poco quando quella quello questa questo "
    "qui se sei senza si sia sono sopra sotto su sua sue sugli sul sulla suo tra tutti tutto un una uno vi voi",
    "pt": "a à ao aos as às até com como da das de dele dela do dos e é ela elas ele eles em entre era essa esse esta "
    "está estão este eu foi há isso isto já lhe mais mas me mesmo meu minha muito na não nas nem no nos nós o "
    "os ou para pela pelas pelo pelos por porque qual quando que quem se sem ser seu seus só sob sobre sua suas "
    "também te tem têm tudo um uma umas uns você",
    "nl": "aan achter af al alle als altijd andere ben bij binnen boven buiten daar dan dat de der deze die dit door "
    "doen een eens en er ge geen haar had heb hebben heeft hem het hier hij hoe hun iets ik in is ja je kan kon "
    "kunnen maar me meer men met mij mijn moet na naar naast niet niets nog nu of om omdat onder ons ook op "
    "over te tegen toch toen tot tussen u uit uw van veel voor want waren was wat we wel werd wie wij worden "
    "wordt zal ze zelf zich zij zijn zo zonder zou",
}
