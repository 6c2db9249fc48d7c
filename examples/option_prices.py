"""The price of an option and its sensitivities, then the volatility that a price stands for.

Black and Scholes (1973), for a European call. Second derivatives are derivatives of derivatives.
"""

import math

import srcad


def normal(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def call_price(spot, strike, rate, volatility, years):
    spread = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    return spot * normal(d1) - strike * math.exp(-rate * years) * normal(d1 - spread)


delta = srcad.grad(call_price, argnums="spot")
gamma = srcad.grad(delta, argnums="spot")
vega = srcad.grad(call_price, argnums="volatility")
vanna = srcad.grad(vega, argnums="spot")


def implied_volatility(price, spot, strike, rate, years, guess=0.3):
    """By Newton's method."""
    for _ in range(20):
        error = call_price(spot, strike, rate, guess, years) - price
        if abs(error) < 1e-12:
            break
        guess -= error / vega(spot, strike, rate, guess, years)
    return guess


if __name__ == "__main__":
    terms = (100.0, 105.0, 0.02, 0.25, 0.5)
    print(f"price {call_price(*terms):.6f}")
    print(f"delta {delta(*terms):.6f}  gamma {gamma(*terms):.6f}")
    print(f"vega  {vega(*terms):.6f}  vanna {vanna(*terms):.6f}")
    volatility = implied_volatility(6.0, 100.0, 105.0, 0.02, 0.5)
    print(f"a price of 6 stands for a volatility of {volatility:.6f}")
