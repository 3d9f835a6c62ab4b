// The moment shown, and how it goes on.

type Listener = (t: number) => void;

export const speeds = [0.1, 0.25, 0.5, 1, 2, 4, 10];

export class Player {
  start = 0;
  end = 0;
  t = 0;
  speed = 1;
  loop = true;
  playing = false;
  private last = 0;
  private readonly listeners: Listener[] = [];
  private readonly stateListeners: (() => void)[] = [];

  onTime(listener: Listener): void {
    this.listeners.push(listener);
  }

  onState(listener: () => void): void {
    this.stateListeners.push(listener);
  }

  setRange(start: number, end: number): void {
    this.start = start;
    this.end = end;
    this.changed();
    this.seek(this.t);
  }

  seek(t: number): void {
    this.t = Math.min(this.end, Math.max(this.start, t));
    for (const listener of this.listeners) listener(this.t);
  }

  toggle(): void {
    this.playing ? this.pause() : this.play();
  }

  play(): void {
    if (this.t >= this.end) this.seek(this.start);
    this.playing = true;
    this.last = performance.now();
    this.changed();
    requestAnimationFrame((now) => this.tick(now));
  }

  pause(): void {
    this.playing = false;
    this.changed();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.changed();
  }

  setLoop(loop: boolean): void {
    this.loop = loop;
    this.changed();
  }

  private changed(): void {
    for (const listener of this.stateListeners) listener();
  }

  private tick(now: number): void {
    if (!this.playing) return;
    const next = this.t + (this.speed * Math.max(0, now - this.last)) / 1000;
    this.last = now;
    if (next < this.end) this.seek(next);
    else if (this.loop && this.end > this.start) this.seek(this.start + ((next - this.start) % (this.end - this.start)));
    else {
      this.seek(this.end);
      this.pause();
      return;
    }
    requestAnimationFrame((later) => this.tick(later));
  }
}
