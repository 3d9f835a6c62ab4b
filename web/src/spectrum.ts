// Amplitudes over frequency: the discrete Fourier transform of a column.

/** The fast Fourier transform in place; the length is a power of two. */
export function fft(re: Float64Array, im: Float64Array): void {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j], re[i]];
      [im[i], im[j]] = [im[j], im[i]];
    }
  }
  for (let length = 2; length <= n; length <<= 1) {
    const half = length >> 1;
    for (let k = 0; k < half; k++) {
      const angle = (-2 * Math.PI * k) / length;
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      for (let i = k; i < n; i += length) {
        const j = i + half;
        const [x, y] = [c * re[j] - s * im[j], s * re[j] + c * im[j]];
        re[j] = re[i] - x;
        im[j] = im[i] - y;
        re[i] += x;
        im[i] += y;
      }
    }
  }
}

export interface Spectrum {
  frequency: Float64Array; // Hz
  amplitude: Float64Array; // of a sine of that frequency
}

/**
 * Of a column between two times, without its mean. Rows are brought to equal distances by straight lines, which changes nothing if they
 * have them; Hann's window keeps what does not fit the length from spreading, and its loss is made up for.
 */
export function spectrum(time: ArrayLike<number>, values: ArrayLike<number>, from = -Infinity, to = Infinity): Spectrum | null {
  let first = 0;
  let last = time.length - 1;
  while (first < last && time[first] < from) first++;
  while (last > first && time[last] > to) last--;
  const rows = last - first + 1;
  if (rows < 8 || !(time[last] > time[first])) return null;
  const size = Math.min(1 << 15, 1 << Math.ceil(Math.log2(rows)));
  const re = new Float64Array(size);
  const im = new Float64Array(size);
  const step = (time[last] - time[first]) / (rows - 1);
  const count = Math.min(rows, size);
  const spacing = (step * (rows - 1)) / (count - 1);
  let mean = 0;
  for (let k = 0, row = first; k < count; k++) {
    const t = Math.min(time[first] + k * spacing, time[last]);
    while (row < last - 1 && time[row + 1] <= t) row++;
    const part = (t - time[row]) / (time[row + 1] - time[row] || 1);
    re[k] = values[row] + part * (values[row + 1] - values[row]);
    if (!Number.isFinite(re[k])) return null;
    mean += re[k] / count;
  }
  for (let k = 0; k < count; k++) re[k] = (re[k] - mean) * (0.5 - 0.5 * Math.cos((2 * Math.PI * k) / (count - 1)));
  fft(re, im);
  const half = size >> 1;
  const frequency = new Float64Array(half);
  const amplitude = new Float64Array(half);
  for (let k = 0; k < half; k++) {
    frequency[k] = k / (size * spacing);
    amplitude[k] = (4 / (count - 1)) * Math.hypot(re[k], im[k]); // the mean of the window is a half
  }
  return { frequency, amplitude };
}
