import { readFile } from 'node:fs/promises';

/** Makes another Node process collect its garbage, through its inspector: what is left is what it keeps. */
export class HeapCollector {
  /** What the process is to be started with. */
  static readonly environment = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };
  readonly #socket: WebSocket;
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** Finds the inspector's address in what the process has printed. */
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

  /** Resolves when a full collection is done. Throws where the process is gone. */
  async collect(): Promise<void> {
    this.#calls += 1;
    const id = this.#calls;
    const done = new Promise<void>((resolve, reject) => {
      const gone = () => reject(new Error('The process whose memory is measured is gone.'));
      this.#socket.addEventListener('close', gone, { once: true });
      if (this.#socket.readyState !== WebSocket.OPEN) gone();
      const hear = ({ data }: MessageEvent) => {
        if (!String(data).startsWith(`{"id":${id},`)) return;
        this.#socket.removeEventListener('message', hear);
        this.#socket.removeEventListener('close', gone);
        resolve();
      };
      this.#socket.addEventListener('message', hear);
    });
    this.#socket.send(JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' }));
    await done;
  }

  close(): void {
    this.#socket.close();
  }
}
