import { readConfig } from '../../src/config.ts';
import { errorMessage } from '../../src/operate/checks/check-result.ts';
import { checkDatabase } from '../../src/operate/checks/database-checks.ts';
import { type Session, SILENT_LOG } from './session.ts';

/** Chooses the database and opens it once: the embedded one, or a PostgreSQL of the operator's. */
export async function connectDatabase(session: Session): Promise<void> {
  const { questions, settings, secretPlace, say } = session;
  const embedded = 'embedded';
  for (;;) {
    const database = await questions.choose({
      key: 'database',
      message: 'Which database?',
      choices: [
        {
          value: embedded,
          name: 'Embedded',
          description: 'its own PostgreSQL, in ./data; for one process on one machine',
        },
        {
          value: 'own',
          name: 'Your own PostgreSQL',
          description: 'for several processes, or in a container',
        },
      ],
      default: settings.get('DATABASE_URL') === undefined ? embedded : 'own',
    });
    if (database === 'own') {
      const url = await questions.ask({
        key: 'database_url',
        message: 'Its address',
        where: 'It looks like postgres://user:password@host/name.',
        default: settings.get('DATABASE_URL'),
        secret: true,
        check: (answer) => databaseUrlProblem(session, answer),
      });
      await settings.save({ DATABASE_URL: url }, secretPlace);
      return;
    }
    say('Starting the embedded database once…');
    const problem = await databaseProblem(session, undefined);
    if (problem === undefined) {
      await settings.save({ DATABASE_URL: undefined }, secretPlace);
      return;
    }
    questions.reject('database', problem);
  }
}

async function databaseUrlProblem(session: Session, answer: string): Promise<string | undefined> {
  const url = URL.parse(answer);
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol))
    return 'This is no address of a PostgreSQL. It looks like postgres://user:password@host/name.';
  return databaseProblem(session, answer);
}

async function databaseProblem({ settings }: Session, url: string | undefined): Promise<string | undefined> {
  // Empty values count as not set.
  const config = readConfig({ ...settings.environment(), DATABASE_URL: url ?? '', DATABASE_URL_FILE: '' });
  const tools = { log: SILENT_LOG, now: () => Date.now(), freeBytes: async () => 0, mend: false };
  try {
    for await (const found of checkDatabase(config, tools))
      if (typeof found !== 'string' && !found.ok) return found.message;
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}
