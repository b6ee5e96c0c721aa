"""Exports as people have them, with a known answer: shops, flats, a list of passengers, a survey."""

import csv
import io

import numpy as np

SHOP_ROWS, PASSENGERS, OTHER_ROWS = 400, 600, 300


def german(value, decimals=2):
    """A number as a German office writes it: 6.305,44."""
    return f"{value:,.{decimals}f}".translate(str.maketrans(",.", ".,"))


def shop():
    """Orders of a shop, in bytes: BOM, semicolons, decimal commas, percent, euros, dates, ja/nein, a name twice.

    The amount is made of price and quantity, less the discount; the day and the customer's number tell nothing.
    """
    rng = np.random.default_rng(1)
    lines = ["Kunde;Datum;Preis;Menge;Rabatt;Neukunde;Versand;Farbe;Betrag;Preis"]
    for i in range(SHOP_ROWS):
        price, count = np.exp(rng.normal(5.5, 1.2)), int(rng.integers(1, 8))
        discount, is_new = rng.uniform(0.0, 30.0), rng.random() < 0.4
        amount = price * count * (1.0 - discount / 100.0) * np.exp(0.1 * rng.standard_normal())
        day = np.datetime64("2024-01-01") + int(rng.integers(0, 366))
        written = "-" if i % 25 == 7 else f"{discount:.1f}%".replace(".", ",")
        colour = ("rot", "blau", "grün")[int(rng.integers(0, 3))]
        lines.append(
            f"{1000 + i * 7919 % 4001};{day.astype(object):%d.%m.%Y};{german(price)} €;{count};{written};"
            f"{'ja' if is_new else 'nein'};{rng.integers(7, 20):02d}:{rng.integers(0, 60):02d};{colour};"
            f"{german(amount)} €;{german(price / 1.19)}"
        )
    return ("\ufeff" + "\r\n".join(lines) + "\r\n").encode()


def passengers():
    """A list of passengers, in bytes: quoted names, text, 20% missing ages, cabins that are mostly missing.

    The fare follows the class and the number of relatives; age tells a little about the class.
    """
    rng = np.random.default_rng(2)
    lines = ["PassengerId,Survived,Pclass,Name,Sex,Age,SibSp,Ticket,Fare,Cabin,Embarked"]
    for i in range(PASSENGERS):
        cabin_class = int(rng.choice([1, 2, 3], p=[0.25, 0.2, 0.55]))
        is_woman = rng.random() < 0.4
        age = float(np.clip(rng.normal(44 - 6 * cabin_class, 13), 0.5, 80))
        relatives = int(rng.poisson(0.5))
        fare = np.exp(5.2 - 0.9 * cabin_class + 0.25 * relatives + 0.3 * rng.standard_normal())
        survived = rng.random() < (0.75 if is_woman else 0.2) + 0.1 * (2 - cabin_class)
        age_cell = "" if rng.random() < 0.2 else f"{age:.1f}"
        cabin = f"C{rng.integers(1, 120)}" if rng.random() < 0.2 else ""
        title = "Mrs." if is_woman else "Mr."
        lines.append(
            f'{i + 1},{int(survived)},{cabin_class},"Doe{i}, {title} J.",{"female" if is_woman else "male"},{age_cell},'
            f"{relatives},PC {17000 + i * 37 % 911},{fare:.4f},{cabin},{rng.choice(['S', 'C', 'Q'])}"
        )
    return ("\n".join(lines) + "\n").encode()


def sales():
    """Orders of an American shop, in bytes: dollars, thousands, losses in brackets, pounds, quoted newlines, a sum.

    The revenue is made of units and price; half of the units are the weight.
    """
    rng = np.random.default_rng(7)
    text = io.StringIO(newline="")
    write = csv.writer(text).writerow
    write(["Order ID", "Order Date", "Region", "Units", "Unit Price", "Weight", "Discount", "Returned?", "Revenue"])
    for i in range(OTHER_ROWS):
        units, price = int(rng.integers(1, 2000)), np.exp(rng.normal(3.0, 0.3))
        revenue = units * price * np.exp(0.1 * rng.standard_normal()) - 4000.0
        money = f"(${-revenue:,.2f})" if revenue < 0.0 else f"${revenue:,.2f}"
        day = (np.datetime64("2023-01-01") + int(rng.integers(0, 730))).astype(object)
        discount = "N/A" if i % 20 == 3 else f"{rng.uniform(0, 30):.0f}%"
        region = 'East,\n"coast"' if rng.random() < 0.3 else rng.choice(["West", "South"])
        weight = f"{units * rng.uniform(0.3, 0.7):,.1f} lb"
        cells = [f"{units:,}", f"${price:,.2f}", weight, discount, rng.choice(["Y", "N"]), money]
        write([f"SO-{10000 + i}", f"{day:%m/%d/%Y}", region, *cells])
    write(["Grand Total", "", "", "299,640", "", "", "", "", "$6,012,345.00"])
    return text.getvalue().encode()


def flats():
    """Flats, as a French office lists them, in bytes: a title, tabs, Windows-1252, spaces in thousands, ? and -.

    The rent follows the size.
    """
    rng = np.random.default_rng(8)
    lines = ["Relevés 2024", "", "Ville\tSurface\tLoyer\tÉtage\tBalcon\tDate de visite\tÂge\tDPE"]
    for i in range(OTHER_ROWS):
        size, floor = rng.uniform(12.0, 180.0), "?" if i % 10 == 4 else str(rng.integers(0, 9))
        rent = f"{size * 18.0 * np.exp(0.15 * rng.standard_normal()):,.2f} €".replace(",", "\u00a0").replace(".", ",")
        day = (np.datetime64("2024-01-01") + int(rng.integers(0, 366))).astype(object)
        town, balcony = rng.choice(["Paris", "Lyon", "Nîmes"]), rng.choice(["oui", "non"])
        age = "-" if i % 5 == 1 else f"{rng.integers(1, 120)} ans"
        cells = [town, f"{size:.1f} m²".replace(".", ","), rent, floor, balcony, f"{day:%d/%m/%Y}", age]
        lines.append("\t".join([*cells, rng.choice(list("ABCDEFG"))]))
    return ("\r\n".join(lines) + "\r\n").encode("cp1252")


def survey():
    """A survey, in bytes: moments with a Z, degrees, spans, opinions, dates of two forms in one column, free text.

    The score follows the temperature, in a wave.
    """
    rng = np.random.default_rng(9)
    lines = ["id,when,joined,temp,likert,duration,score,state,comment"]
    for i in range(OTHER_ROWS):
        moment = (np.datetime64("2024-03-01T00:00:00") + int(rng.integers(0, 86400 * 60))).astype(object)
        temperature = rng.normal(20.0, 5.0)
        score = np.sin(temperature / 3.0) + 0.3 * rng.standard_normal()
        joined = f"{moment:%d.%m.%Y}" if i % 5 == 2 else f"{moment:%Y-%m-%d}"
        opinion = rng.choice(["agree", "neutral", "disagree", "strongly agree"])
        span = f"{rng.integers(0, 3)}:{rng.integers(0, 60):02d}:{rng.integers(0, 60):02d}"
        comment = f"free text {i}" if i % 10 == 0 else ""
        cells = [f"{temperature:.1f}°C", opinion, span, f"{score:.3f}", rng.choice(["NY", "CA", "NA"]), comment]
        lines.append(",".join([f"u{i:04d}", f"{moment.isoformat()}Z", joined, *cells]))
    return ("\n".join(lines) + "\n").encode()
