"""Differentiate a simulation: how far a ball flies, by the angle it is thrown at.

The loop runs until the ball is below the ground, so the number of steps depends on the angle; the
last step is cut where it meets the ground.
"""

import math

import srcad

GRAVITY = 9.81
DRAG = 0.01


def distance(angle, speed=30.0, dt=0.01):
    x, y = 0.0, 1.8
    vx, vy = speed * math.cos(angle), speed * math.sin(angle)
    while True:
        v = math.sqrt(vx * vx + vy * vy)
        vx -= dt * DRAG * v * vx
        vy -= dt * (GRAVITY + DRAG * v * vy)
        if y + dt * vy < 0:
            break
        x += dt * vx
        y += dt * vy
    return x - y * vx / vy


def best_angle(low, high):
    slope = srcad.derivative(distance)
    for _ in range(40):  # bisection: the slope falls through zero at the best angle
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return low


if __name__ == "__main__":
    by_angle, by_speed = srcad.grad(distance, argnums=("angle", "speed"))(0.7)
    print(f"thrown at {math.degrees(0.7):.2f} degrees it flies {distance(0.7):.3f} m")
    print(f"one degree more: {by_angle * math.pi / 180:+.4f} m, 1 m/s more: {by_speed:+.4f} m")
    differences = (distance(0.7 + 1e-6) - distance(0.7 - 1e-6)) / 2e-6
    print(f"by angle {by_angle:.6f}, by differences {differences:.6f}")
    angle = best_angle(0.4, 1.2)
    print(f"farthest at {math.degrees(angle):.2f} degrees: {distance(angle):.3f} m")
