// Prints "N passed, N failed" from vitest's JSON report. What failed outside a test (the install, a check, a file
// that does not load) counts as one failure.
import { readFileSync } from 'node:fs';

const [report = '', status = '1'] = process.argv.slice(2);
const text = readFileSync(report, 'utf8');
const { numPassedTests = 0, numFailedTests = 0, testResults = [] } = text === '' ? {} : JSON.parse(text);
const brokenFiles = testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
);
const failed = numFailedTests + brokenFiles.length;
console.log(`${numPassedTests} passed, ${failed === 0 && status !== '0' ? 1 : failed} failed`);
