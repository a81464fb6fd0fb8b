import './scaled-limits.ts';

// The program that operators start.
await import('../src/main.ts');
