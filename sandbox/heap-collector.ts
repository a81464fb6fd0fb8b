import { readFile } from 'node:fs/promises';

/** Runs a full garbage collection in another Node process through its inspector. */
export class HeapCollector {
  /** The environment that the process needs. */
  static readonly environment = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };
  readonly #socket: WebSocket;
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** Finds the inspector's address in the output of the process. @throws if the inspector is not enabled */
  static async open(logFile: string): Promise<HeapCollector> {
    const address = /Debugger listening on (ws:\S+)/.exec(await readFile(logFile, 'utf8'))?.[1];
    if (address === undefined) throw new Error('The process was not started with its inspector.');
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', reject, { once: true });
    });
    return new HeapCollector(socket);
  }

  /** Resolves when the collection is done. @throws if the process has ended */
  async collect(): Promise<void> {
    await this.#call('HeapProfiler.collectGarbage');
  }

  /** Runs code without optimising it, and keeps what is compiled: memory grows by code for a minute, not for ten. */
  async stopOptimising(): Promise<void> {
    const flags = '--no-opt --no-maglev --always-sparkplug --no-flush-bytecode';
    const expression = `process.getBuiltinModule('node:v8').setFlagsFromString('${flags}')`;
    await this.#call('Runtime.evaluate', { expression });
  }

  async #call(method: string, params: Record<string, string> = {}): Promise<void> {
    this.#calls += 1;
    const id = this.#calls;
    const done = new Promise<void>((resolve, reject) => {
      const gone = () => reject(new Error('The measured process has ended.'));
      this.#socket.addEventListener('close', gone, { once: true });
      if (this.#socket.readyState !== WebSocket.OPEN) gone();
      const onMessage = ({ data }: MessageEvent) => {
        if (!String(data).startsWith(`{"id":${id},`)) return;
        this.#socket.removeEventListener('message', onMessage);
        this.#socket.removeEventListener('close', gone);
        resolve();
      };
      this.#socket.addEventListener('message', onMessage);
    });
    this.#socket.send(JSON.stringify({ id, method, params }));
    await done;
  }

  close(): void {
    this.#socket.close();
  }
}

const HEAP_METRIC = /^nodejs_heap_size_used_bytes (\d+(?:\.\d+)?(?:e\+?\d+)?)$/m;

/** Samples the heap size of a process that has its inspector, each time after a forced collection; `logFile` has its output. */
export async function openHeapMonitor(port: number, logFile: string) {
  const collector = await HeapCollector.open(logFile);
  const samples: number[] = [];
  return {
    sample: async () => {
      await collector.collect();
      const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      const bytes = Number(HEAP_METRIC.exec(page)?.[1]);
      if (Number.isFinite(bytes)) samples.push(bytes);
    },
    /**
     * MiB between the minimum of the second third of the samples and that of the last: what is under way at a sample counts,
     * too. The first third is warm-up.
     */
    growthMiB: () => {
      const third = Math.floor(samples.length / 3);
      if (third === 0) return 0;
      const before = Math.min(...samples.slice(third, 2 * third));
      const after = Math.min(...samples.slice(-third));
      return Math.round(((after - before) / 1024 / 1024) * 10) / 10;
    },
    close: () => collector.close(),
  };
}
