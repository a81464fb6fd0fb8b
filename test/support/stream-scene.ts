import type { InProcessSandbox, InProcessSandboxOptions } from '../../sandbox/in-process-sandbox.ts';
import type { Channel, Message } from '../../sandbox/slack/slack-workspace.ts';
import { AppScene, openAppScene } from './app-scene.ts';

/** More than one message shows. */
export const LONG_LINES = Array.from(
  { length: 200 },
  (_, line) => `Line ${line} of an answer that has words enough to fill its first message soon.`,
);

/** People whose direct messages are answered by streams. Of one scene, our own limits allow five streams at once. */
export class StreamScene extends AppScene {
  readonly #gates: Map<string, () => void>;

  constructor(sandbox: InProcessSandbox, gates: Map<string, () => void>) {
    super(sandbox);
    this.#gates = gates;
  }

  /** A question in the direct messages of somebody new. */
  askInDm(text: string) {
    const person = this.slack.createPerson({ name: `reader of ${text}` });
    const channel = this.slack.openDm(person);
    return { person, channel, root: this.slack.say({ person, channel, text }) };
  }

  /** Lets the agent write the next piece of its answer to this question. */
  async goOn(text: string): Promise<void> {
    const open = await this.until('the agent waits', () => this.#gates.get(text));
    this.#gates.delete(text);
    open();
  }

  /** The message that shows this, once there is one. */
  async showing(channel: Channel, root: Message, text: string): Promise<Message> {
    return this.until(`the thread shows "${text}"`, () =>
      this.replies(channel, root).find((message) => this.slack.visibleText(message).includes(text)),
    );
  }

  /** Calls of a method about a channel. */
  calls(method: string, channel: Channel) {
    return this.slack.calls.filter((call) => call.method === method && call.args.channel === channel.id);
  }

  /** What a finished thread looks like, without what differs from turn to turn. */
  endOf(channel: Channel, root: Message): string[] {
    return this.replies(channel, root).map(({ text, blocks, metadata }) => {
      const shown = blocks?.map((block) => ({ ...block, block_id: undefined }));
      const known = JSON.stringify({ text, shown, metadata: metadata?.event_type });
      return known.replaceAll(/[0-9a-f-]{36}/g, 'turn').replaceAll(/\d+ s\b|under a second/g, 'a while');
    });
  }
}

/** An agent that writes its answers in three pieces, each when the test says so. */
export async function openStreamScene(
  { settings, slack }: Pick<Partial<InProcessSandboxOptions>, 'settings' | 'slack'> = {},
  whenDone?: (close: () => Promise<void>) => void,
): Promise<StreamScene> {
  const gates = new Map<string, () => void>();
  const options: Partial<InProcessSandboxOptions> = {
    settings: { DM_STREAMS: 'true', ...settings },
    ...(slack && { slack }),
    agent: {
      script: async (turn) => {
        const { text } = turn;
        const gate = async () => {
          const { promise, resolve } = Promise.withResolvers<void>();
          turn.cancelSignal.addEventListener('abort', () => resolve());
          gates.set(text, resolve);
          await promise;
          await turn.sleep(0);
        };
        if (text.includes('fails')) {
          await gate();
          turn.fail('No reason.');
        }
        turn.write('First, a **word**.\n\n');
        await gate();
        if (text.includes('rewritten')) turn.rewrite('It is all different. ');
        if (text.includes('tool'))
          await turn.tool('search_web', { query: 'BRCA1' }, () => gate().then(String));
        turn.write(`Second, \`code\`.\n\n${text.includes('long') ? LONG_LINES.join('\n\n') : ''}`);
        await gate();
        turn.write('\n\nThird, the end.');
      },
    },
  };
  const { sandbox } = await openAppScene(options, whenDone);
  return new StreamScene(sandbox, gates);
}
