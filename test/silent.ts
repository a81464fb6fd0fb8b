import { pino } from 'pino';

/** A logger that says nothing. */
export const silent = pino({ level: 'silent' });
