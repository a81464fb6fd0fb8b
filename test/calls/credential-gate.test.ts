import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CredentialGate } from '../../src/calls/credential-gate.ts';

function gateWithClock() {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  const clock = { ms: 0 };
  const monotonic = vi.spyOn(performance, 'now').mockImplementation(() => clock.ms);
  onTestFinished(() => monotonic.mockRestore());
  const gate = new CredentialGate({ setting: 'A_KEY', log, probeMs: 10_000 });
  return { gate, clock, lines };
}

const refusal = new Error('The key is not accepted.');

test('a rejected credential lets one call through every ten seconds', () => {
  const { gate, clock } = gateWithClock();
  gate.refused(refusal);
  expect(() => gate.enter()).toThrow(refusal);
  clock.ms = 10_000;
  expect(() => gate.enter()).not.toThrow();
  expect(() => gate.enter()).toThrow(refusal);
  clock.ms = 20_000;
  expect(() => gate.enter()).not.toThrow();
});

test('an accepted call opens the gate for all', () => {
  const { gate } = gateWithClock();
  gate.refused(refusal);
  gate.accepted();
  expect(() => gate.enter()).not.toThrow();
  expect(gate.refusedSince).toBeUndefined();
});

test('the log says once that the credential is rejected, and once that it works again', () => {
  const { gate, lines } = gateWithClock();
  gate.accepted();
  for (let call = 0; call < 5; call += 1) gate.refused(refusal);
  expect(gate.refusedSince).toBeInstanceOf(Date);
  gate.accepted();
  gate.accepted();
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('A_KEY is not accepted');
  expect(lines[1]).toContain('A_KEY is accepted again');
});
