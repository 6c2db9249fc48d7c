"""The function of 50 lines whose compilation is timed, as text."""

TEXT = '''"""A model with loops, branches and calls, of 50 lines."""

import math


def friction(v, rough):
    if v < 0.5:
        return rough * v
    return rough * v * v + 0.25 * rough


def model(a, b, n):
    x = a
    v = b
    total = 0.0
    heat = 0.1
    weights = [0.5, 0.25, 0.125]
    for k in range(n):
        force = math.sin(a * x) - b * x
        drag = friction(v, 0.1 + 0.01 * a)
        if v > 0:
            force -= drag
        else:
            force += drag
        v += 0.1 * force
        x += 0.1 * v
        if x > 2.0:
            x = 4.0 - x
            v = -0.9 * v
        heat = 0.9 * heat + 0.05 * drag * drag
        energy = 0.5 * v * v + 0.5 * b * x * x
        total += weights[k % 3] * energy
    speed = math.sqrt(v * v + 1e-3)
    angle = math.atan2(x, 1.0 + speed)
    wave = math.cos(3.0 * angle) * math.exp(-heat)
    ratio = x / (1.0 + speed)
    smooth = math.tanh(ratio) + math.log1p(x * x)
    guess = 1.0 + 0.1 * a
    steps = 0
    while abs(guess * guess - 2.0 - heat) > 1e-9 and steps < 20:
        guess = 0.5 * (guess + (2.0 + heat) / guess)
        steps += 1
    first = wave * smooth + guess
    second = (angle - ratio) ** 2 + 0.5 * first
    if second > first:
        result = first * second
    else:
        result = first + second * a
    penalty = 0.01 * (a * a + b * b)
    return result + total + penalty
'''
