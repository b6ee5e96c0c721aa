"""Exports as people have them, with a known answer: a German shop, and a list of passengers."""

import numpy as np

SHOP_ROWS, PASSENGERS = 400, 600


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
