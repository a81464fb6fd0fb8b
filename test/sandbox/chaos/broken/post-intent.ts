import type { Kysely } from 'kysely';
import type { Tables } from '../../../../src/store/schema.ts';
import { Store } from '../../../../src/store/store.ts';
import { Posts } from '../../../../src/store/threads/posts.ts';
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

class BrokenStore extends Store {
  override readonly posts: Posts;

  constructor(db: Kysely<Tables>) {
    super(db);
    this.posts = new ForgetfulPosts(db);
  }

  protected override within(db: Kysely<Tables>): Store {
    return new BrokenStore(db);
  }
}

await startBroken({ store: (db) => new BrokenStore(db) });
