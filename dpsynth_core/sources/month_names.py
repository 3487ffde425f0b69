"""Names of months in twelve languages, in full and shortened: English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish,
Danish, Norwegian, Finnish and Polish. A name means the same month in every language that has it, so a date needs no language stated."""

from __future__ import annotations

_NAMES = (
    "january jan jänner januar janvier janv enero ene gennaio gen janeiro januari tammikuuta tammi tammikuu stycznia sty styczeń",
    "february feb februar février févr febrero febbraio fevereiro fev februari helmikuuta helmi helmikuu lutego lut luty",
    "march mar märz mär mars marzo março maart mrt marts maaliskuuta maalis maaliskuu marca marzec",
    "april apr avril avr abril abr aprile huhtikuuta huhti huhtikuu kwietnia kwi kwiecień",
    "may mai mayo maggio mag maio mei maj toukokuuta touko toukokuu maja",
    "june jun juni juin junio giugno giu junho kesäkuuta kesä kesäkuu czerwca cze czerwiec",
    "july jul juli juillet juil julio luglio lug julho heinäkuuta heinä heinäkuu lipca lip lipiec",
    "august aug août agosto ago augustus augusti elokuuta elo elokuu sierpnia sie sierpień",
    "september sep sept septembre septiembre settembre set setembro syyskuuta syys syyskuu września wrz wrzesień",
    "october oct oktober okt octobre octubre ottobre ott outubro out lokakuuta loka lokakuu października paź październik",
    "november nov novembre noviembre novembro marraskuuta marras marraskuu listopada lis listopad",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro desember des joulukuuta joulu joulukuu grudnia gru grudzień",
)
MONTHS = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
"""The number of a month by its name in small letters, without a point."""
LETTERS = "A-Za-z\u00c0-\u024f"
"""What names of months are written with."""
