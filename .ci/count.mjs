// Prints "N passed, N failed" from vitest's JSON report, and before it which tests passed at their second try. What failed
// outside a test (the install, a check, a file that does not load) counts as one failure.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [report = '', status = '1'] = process.argv.slice(2);
const text = readFileSync(report, 'utf8');
const { numPassedTests = 0, numFailedTests = 0, testResults = [] } = text === '' ? {} : JSON.parse(text);
const brokenFiles = testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
);
for (const { name, assertionResults } of testResults) {
  for (const { status, failureMessages, fullName } of assertionResults) {
    if (status !== 'passed' || failureMessages.length === 0) continue;
    const [why = ''] = failureMessages[0].split('\n');
    console.log(`passed at the second try: ${relative(process.cwd(), name)} > ${fullName} (${why})`);
  }
}
const failed = numFailedTests + brokenFiles.length;
console.log(`${numPassedTests} passed, ${failed === 0 && status !== '0' ? 1 : failed} failed`);
