import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { INTENT_MAX_AGE_MS } from '../../../../src/relay/runtime/unknown-outcome.ts';
import type { Tables } from '../../../../src/store/schema.ts';
import { Store } from '../../../../src/store/store.ts';
import { Posts } from '../../../../src/store/threads/posts.ts';
import { Turns } from '../../../../src/store/threads/turns.ts';
import { startBroken } from './start.ts';

/** Remembers what was posted, but not what was about to be. */
class ForgetfulPosts extends Posts {
  override async ofTurn(...[turn]: Parameters<Posts['ofTurn']>): ReturnType<Posts['ofTurn']> {
    const known = await super.ofTurn(turn);
    return new Map([...known].filter(([, { state }]) => state !== 'intended'));
  }

  override async intend(...intent: Parameters<Posts['intend']>): ReturnType<Posts['intend']> {
    return { ...(await super.intend(...intent)), state: 'gone' };
  }
}

/** Takes so long to begin a turn that the intent recorded with it is too old for the first reply. */
class SlowTurns extends Turns {
  override async begin(...begun: Parameters<Turns['begin']>): ReturnType<Turns['begin']> {
    const turn = await super.begin(...begun);
    await sleep(INTENT_MAX_AGE_MS + 100);
    return turn;
  }
}

class BrokenStore extends Store {
  override readonly posts: Posts;
  override readonly turns: Turns;

  constructor(db: Kysely<Tables>) {
    super(db);
    this.posts = new ForgetfulPosts(db);
    this.turns = new SlowTurns(db);
  }

  protected override within(db: Kysely<Tables>): Store {
    return new BrokenStore(db);
  }
}

await startBroken({ store: (db) => new BrokenStore(db) });
