// Where the marks of a logarithmic axis stand.

/** As many marks of a logarithmic axis as there is room for: within decades, or powers of ten, or some of them. */
export function decades(min: number, max: number, room: number): number[] {
  const [low, high] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
  const marks = (every: number, factors: number[]) =>
    Array.from({ length: Math.floor((high - low) / every) + 1 }, (_, k) => 10 ** (low + k * every))
      .flatMap((power) => factors.map((factor) => factor * power))
      .filter((mark) => mark >= min * (1 - 1e-9) && mark <= max * (1 + 1e-9));
  const gap = (max / min) ** (1 / room);
  const fits = (made: number[]) => made.length > 1 && made.every((mark, k) => k === 0 || mark >= gap * made[k - 1]);
  const finest = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]].map((factors) => marks(1, factors)).find(fits);
  return finest ?? marks(Math.ceil((high - low) / room), [1]);
}
