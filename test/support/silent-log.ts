import { pino } from 'pino';

/** A logger that says nothing. */
export const silentLog = pino({ level: 'silent' });
