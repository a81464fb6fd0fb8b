import { type AgentTurn, TurnCancelled } from './agent-script.ts';
import { writePaper } from './paper-writer.ts';
import { writeReferences } from './reference-list.ts';
import { sampleReport, writeLikeModel } from './sample-report.ts';

/** Where `/lengthcut` stops, in the middle of a sentence; `Continue.` brings the rest. */
const CUT_REPORT = sampleReport(1_500);
const CUT_AT = CUT_REPORT.lastIndexOf('controls of');

/** `/slow` tells of each second so long, and then of one in so many: its text stays short however long it takes. */
const TOLD_SECONDS = 120;
const TOLD_EVERY = 20;

type Command = (turn: AgentTurn, argument: string) => Promise<void> | void;

/** The commands in a message, such as `/long 20000`; the README lists them. */
const COMMANDS: Record<string, Command> = {
  long: (turn, argument) => writeFast(turn, sampleReport(numberOf(argument, 20_000))),
  slow: async (turn, argument) => {
    const seconds = numberOf(argument, 30);
    for (let second = 1; second <= seconds; second += 1) {
      if (turn.isHurried) second = seconds;
      const isTold = second <= TOLD_SECONDS || second % TOLD_EVERY === 0 || second === seconds;
      if (isTold) turn.write(`Second ${second} of ${seconds}. `);
      await turn.sleep(1000);
    }
  },
  stubborn: async (turn) => {
    turn.write('I do not stop when I am asked to. ');
    await new Promise((resolve) => turn.signal.addEventListener('abort', resolve, { once: true }));
  },
  silent: async (turn, argument) => {
    await turn.sleep(numberOf(argument, 10) * 1000);
    await writeLikeModel(turn, 'That was the silence. ');
  },
  ask: async (turn, argument) => {
    const reply = await turn.ask(`${argument || 'Which of the two groups do you mean?'}\n\n`);
    await writeLikeModel(turn, `You answered "${reply}". Thank you, that was what I needed.\n`);
  },
  fail: async (turn, argument) => {
    await writeLikeModel(turn, 'I have started, but this will not end well. ');
    turn.fail(argument || 'The agent failed on request');
  },
  lengthcut: async (turn) => {
    await writeLikeModel(turn, CUT_REPORT.slice(0, CUT_AT));
    turn.end('length');
  },
  background: async (turn, argument) => {
    const seconds = numberOf(argument, 5);
    turn.background(async () => {
      await turn.sleep(seconds * 1000);
      if (argument.endsWith('fail')) throw new Error('The background work broke down');
      if (argument.endsWith('cancel')) throw new TurnCancelled();
      await turn.result('background.txt', 'text/plain', `Written after ${seconds} s of background work.\n`);
    });
    await writeLikeModel(turn, `My answer is final. I keep working in the background for ${seconds} s. `);
  },
  system: (turn, argument) => turn.system(argument || 'A note from the system'),
  review: async (turn, argument) => {
    const failing = argument.startsWith('fail');
    const findings = `## Scientific review\n\n${failing ? '' : argument || 'The reasoning holds; the sample is small.'}\n`;
    const times = { afterMs: 2000, verifyMs: 2000 };
    turn.review({ findings, ...times, ...(failing ? { error: 'The review could not be completed' } : {}) });
    await writeLikeModel(turn, 'A review of this answer follows. ');
  },
  unknownblock: async (turn) => {
    turn.block({ type: 'citation_list', items: [{ title: 'A block kind that nobody described' }] });
    await writeLikeModel(turn, 'There is a block of an unknown kind in this reply. ');
  },
  tools: async (turn, argument) => {
    for (let call = 1; call <= numberOf(argument, 3); call += 1) {
      await turn.tool('look_up', { query: `entry ${call}` }, async () => {
        await turn.sleep(500);
        return `Nothing about entry ${call}`;
      });
    }
    await writeLikeModel(turn, 'I looked everywhere. ');
  },
  files: async (turn, argument) => {
    for (let file = 1; file <= numberOf(argument, 1); file += 1) {
      await turn.result(`note-${file}.txt`, 'text/plain', `Note ${file}\n`);
    }
    await writeLikeModel(turn, 'I left some notes. ');
  },
  paper: (turn) => writePaper(turn),
  sources: (turn) => writeReferences(turn),
  ping: (turn) =>
    writeLikeModel(
      turn,
      'Nobody is called: <!channel> <!here> <!everyone> <@U0123456789> <!subteam^S012345>. ',
    ),
};

/** Runs the command lines of a message in order; returns the rest of its text, and whether there were any. */
export async function runPromptCommands(turn: AgentTurn): Promise<{ rest: string; isCommanded: boolean }> {
  const rest: string[] = [];
  const lines = turn.text.split('\n');
  for (const line of lines) {
    const [, name = '', argument = ''] = /^\s*\/([a-z]+)(?:\s+(.*))?$/.exec(line) ?? [];
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (command === undefined) rest.push(line);
    else await command(turn, argument.trim());
  }
  return { rest: rest.join('\n').trim(), isCommanded: rest.length < lines.length };
}

/** Takes up a reply that `/lengthcut` ended, if the message asks for it. */
export async function continueReply(turn: AgentTurn): Promise<boolean> {
  const asksToContinue = /^(?:.*: )?continue\.?$/i.test(turn.text.trim());
  const last = turn.history.findLast(({ role }) => role === 'assistant');
  if (!asksToContinue || last?.text.endsWith(CUT_REPORT.slice(0, CUT_AT)) !== true) return false;
  await writeLikeModel(turn, CUT_REPORT.slice(CUT_AT));
  return true;
}

/** Writes a long text quickly, a few hundred characters at a time. */
async function writeFast(turn: AgentTurn, text: string): Promise<void> {
  for (let at = 0; at < text.length; at += 400) {
    turn.write(text.slice(at, at + 400));
    await turn.sleep(100 * turn.writingPace);
  }
}

function numberOf(argument: string, otherwise: number): number {
  const value = Number.parseFloat(argument);
  return Number.isFinite(value) && value >= 0 ? value : otherwise;
}
