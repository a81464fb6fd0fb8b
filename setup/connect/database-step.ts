import { randomBytes } from 'node:crypto';
import { readConfig } from '../../src/config/environment-and-secret-files.ts';
import { checkDatabase } from '../../src/operate/checks/database-checks.ts';
import { errorMessage } from '../../src/postgres/errors.ts';
import { type Session, SILENT_LOG } from './session.ts';

/** Chooses the database, opens it once and saves it with a key that encrypts secrets there. */
export async function connectDatabase(session: Session): Promise<void> {
  const { settings, secretPlace, say } = session;
  const url = await chooseDatabase(session);
  const isKeyNew = settings.get('SECRET_KEY') === undefined;
  const key = isKeyNew ? { SECRET_KEY: randomBytes(32).toString('hex') } : {};
  await settings.save({ DATABASE_URL: url, ...key }, secretPlace);
  if (isKeyNew)
    say(
      'Made SECRET_KEY, which encrypts secrets in the database: every process on it needs the same. Keep a copy, but not with its backups.',
    );
}

/** Asks until one opens: the address of a PostgreSQL of the operator's, or undefined for the embedded one. */
async function chooseDatabase(session: Session): Promise<string | undefined> {
  const { questions, settings, say } = session;
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
      return questions.ask({
        key: 'database_url',
        message: 'Its address',
        where: 'It looks like postgres://user:password@host/name.',
        default: settings.get('DATABASE_URL'),
        secret: true,
        check: (answer) => databaseUrlProblem(session, answer),
      });
    }
    say('Starting the embedded database once…');
    const problem = await databaseProblem(session, undefined);
    if (problem === undefined) return undefined;
    questions.reject('database', problem);
  }
}

async function databaseUrlProblem(session: Session, answer: string): Promise<string | undefined> {
  if (!/^postgres(?:ql)?:\/\//.test(answer))
    return 'This is no address of a PostgreSQL. It looks like postgres://user:password@host/name.';
  return databaseProblem(session, answer);
}

async function databaseProblem({ settings }: Session, url: string | undefined): Promise<string | undefined> {
  const tools = { log: SILENT_LOG, now: () => Date.now(), freeBytes: async () => 0, mend: false };
  try {
    // Empty values count as not set.
    const config = readConfig({ ...settings.environment(), DATABASE_URL: url ?? '', DATABASE_URL_FILE: '' });
    for await (const found of checkDatabase(config, tools))
      if (typeof found !== 'string' && !found.ok) return found.message;
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}
