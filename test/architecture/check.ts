import { fileURLToPath } from 'node:url';
import { readTree, violations } from './rules.ts';

// The house's rules as a command: part of `npm run check`.
const root = fileURLToPath(new URL('../../', import.meta.url));
const found = violations(readTree(root, ['src', 'setup', 'sandbox']));
for (const violation of found) console.error(violation);
if (found.length > 0) process.exitCode = 1;
