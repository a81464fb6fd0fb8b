import { RELAY_LIMITS } from '../src/limits.ts';

// A program of the sandbox or a test imports this before the bot: it then runs with the limits of its environment.
Object.assign(RELAY_LIMITS, JSON.parse(process.env.BOT_LIMITS ?? '{}'));
