import { HeapCollector } from '../heap-collector.ts';

const HEAP_METRIC = /^nodejs_heap_size_used_bytes (\d+(?:\.\d+)?(?:e\+?\d+)?)$/m;

/** Samples the heap size of a process that has its inspector, each time after a forced garbage collection. */
export class HeapMonitor {
  readonly #port: number;
  readonly #collector: HeapCollector;
  readonly #samples: number[] = [];

  private constructor(port: number, collector: HeapCollector) {
    this.#port = port;
    this.#collector = collector;
  }

  /** `logFile` has the output of the process. */
  static async open(port: number, logFile: string): Promise<HeapMonitor> {
    return new HeapMonitor(port, await HeapCollector.open(logFile));
  }

  async sample(): Promise<void> {
    await this.#collector.collect();
    const page = await (await fetch(`http://127.0.0.1:${this.#port}/metrics`)).text();
    const bytes = Number(HEAP_METRIC.exec(page)?.[1]);
    if (Number.isFinite(bytes)) this.#samples.push(bytes);
  }

  /**
   * MiB between the minimum of the second third of the samples and that of the last: what is under way at a sample counts,
   * too. The first third is warm-up.
   */
  growthMiB(): number {
    const third = Math.floor(this.#samples.length / 3);
    if (third === 0) return 0;
    const before = Math.min(...this.#samples.slice(third, 2 * third));
    const after = Math.min(...this.#samples.slice(-third));
    return Math.round(((after - before) / 1024 / 1024) * 10) / 10;
  }

  close(): void {
    this.#collector.close();
  }
}
