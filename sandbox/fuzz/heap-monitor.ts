const HEAP_METRIC = /^nodejs_heap_size_used_bytes (\d+(?:\.\d+)?(?:e\+?\d+)?)$/m;

/** Samples the heap size of a process: the minimum of several samples approximates what no collection frees. */
export class HeapMonitor {
  readonly #port: number;
  readonly #samples: number[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  async sample(): Promise<void> {
    const page = await (await fetch(`http://127.0.0.1:${this.#port}/metrics`)).text();
    const bytes = Number(HEAP_METRIC.exec(page)?.[1]);
    if (Number.isFinite(bytes)) this.#samples.push(bytes);
  }

  /** MiB between the minimum of the second third of the samples and that of the last; the first third is warm-up. */
  growthMiB(): number {
    const third = Math.floor(this.#samples.length / 3);
    if (third === 0) return 0;
    const before = Math.min(...this.#samples.slice(third, 2 * third));
    const after = Math.min(...this.#samples.slice(-third));
    return Math.round(((after - before) / 1024 / 1024) * 10) / 10;
  }
}
