"""Names of months, full and shortened, in the languages below.

A name means the same month in every one of these languages, so a date needs no stated language. Croatian is not included: listopad is
October there, and November in Polish and Czech.
"""

from __future__ import annotations

LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "pl", "cs", "sk", "hu", "ro", "sl", "bg", "el", "et", "lv",
    "lt", "ru", "uk", "tr", "is", "id",
)
"""Codes of ISO 639."""

_NAMES = (
    "january jan jänner januar janvier janv enero ene gennaio gen janeiro januari tammikuuta tammi tammikuu stycznia sty styczeń "
    "ledna led leden januára január ianuarie ian януари яну ιανουαρίου ιαν ιανουάριος jaanuar jaan janvāris sausio saus sausis "
    "января янв январь січня січ січень ocak oca janúar",
    "february feb februar février févr febrero febbraio fevereiro fev februari helmikuuta helmi helmikuu lutego lut luty února úno "
    "únor februára február febr februarie февруари фев φεβρουαρίου φεβ φεβρουάριος veebruar veebr februāris vasario vas vasaris "
    "февраля февр февраль лютого лют лютий şubat şub febrúar",
    "march mar märz mär mars marzo março maart mrt marts maaliskuuta maalis maaliskuu marca marzec března bře březen marec március "
    "márc martie март μαρτίου μαρ μάρτιος μάρ märts kovo kov kovas марта мар березня бер березень mart maret",
    "april apr avril avr abril abr aprile huhtikuuta huhti huhtikuu kwietnia kwi kwiecień dubna dub duben apríla apríl április ápr "
    "aprilie април апр απριλίου απρ απρίλιος aprill aprīlis balandžio bal balandis апреля апрель квітня квіт квітень nisan nis",
    "may mai mayo maggio mag maio mei maj toukokuuta touko toukokuu maja května kvě květen mája máj május май μαΐου μαΐ μάιος μάι "
    "maijs gegužės geg gegužė мая травня трав травень mayıs maí",
    "june jun juni juin junio giugno giu junho kesäkuuta kesä kesäkuu czerwca cze czerwiec června čvn červen júna jún június iunie "
    "iun junij юни ιουνίου ιουν ιούνιος ιούν juuni jūnijs jūn birželio birž birželis июня июн июнь червня черв червень haziran haz "
    "júní",
    "july jul juli juillet juil julio luglio lug julho heinäkuuta heinä heinäkuu lipca lip lipiec července čvc červenec júla júl "
    "július iulie iul julij юли ιουλίου ιουλ ιούλιος ιούλ juuli jūlijs jūl liepos liep liepa июля июл июль липня лип липень temmuz "
    "tem júlí",
    "august aug août agosto ago augustus augusti elokuuta elo elokuu sierpnia sie sierpień srpna srp srpen augusta augusztus "
    "avgust avg август авг αυγούστου αυγ αύγουστος αύγ augusts rugpjūčio rugp rugpjūtis августа серпня серп серпень ağustos ağu "
    "ágúst ágú agustus agu",
    "september sep sept septembre septiembre settembre set setembro syyskuuta syys syyskuu września wrz wrzesień září zář "
    "septembra szeptember szept septembrie септември сеп σεπτεμβρίου σεπ σεπτέμβριος septembris rugsėjo rugs rugsėjis сентября "
    "сент сентябрь вересня вер вересень eylül eyl",
    "october oct oktober okt octobre octubre ottobre ott outubro out lokakuuta loka lokakuu października paź październik října říj "
    "říjen októbra október octombrie октомври окт οκτωβρίου οκτ οκτώβριος oktoober oktobris spalio spal spalis октября октябрь "
    "жовтня жовт жовтень ekim eki",
    "november nov novembre noviembre novembro marraskuuta marras marraskuu listopada lis listopad listopadu novembra noiembrie "
    "ноември ное νοεμβρίου νοε νοέμβριος νοέ novembris lapkričio lapkr lapkritis ноября нояб ноябрь листопада лист листопад kasım "
    "kas nóvember nóv",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro desember des joulukuuta joulu joulukuu grudnia gru "
    "grudzień prosince pro prosinec decembra decembrie декември дек δεκεμβρίου δεκ δεκέμβριος detsember dets decembris gruodžio "
    "gruod gruodis декабря декабрь грудня груд грудень aralık ara",
)
MONTHS = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
"""The number of a month by its name in small letters, without a point."""
LETTERS = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
"""The letters in names of months: Latin, Greek and Cyrillic."""
