import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { headersOf } from '../core/webhooks/message.ts';
import { newSigningSecret } from '../core/webhooks/secret.ts';

const page = readFileSync('docs/webhooks.md', 'utf8');
const exampleIn = (language: string) => new RegExp(`\`\`\`${language}\n(.*?)\n\`\`\``, 's').exec(page)?.[1] ?? '';

const RUNS = {
  js: (code: string, args: string) => [
    process.execPath,
    ['--input-type=module', '-e', `${code}\nconsole.log(isGenuine(...JSON.parse(process.argv[1])))`, args],
  ],
  python: (code: string, args: string) => [
    'python3',
    ['-c', `${code}\nimport json, sys\nprint(str(is_genuine(*json.loads(sys.argv[1]))).lower())`, args],
  ],
} as const;

test.each(Object.keys(RUNS) as (keyof typeof RUNS)[])(
  'the example in %s takes what is genuine and nothing else',
  (language) => {
    const [secret, other] = [newSigningSecret(), newSigningSecret()];
    const body = '{"type":"webhook.test"}';
    const headers = headersOf({ id: 'whd_1', body, at: 1_000_000 }, [other, secret]);
    const verdict = (...args: unknown[]) => {
      const [program, words] = RUNS[language](exampleIn(language), JSON.stringify(args));
      return execFileSync(program as string, words as string[], { encoding: 'utf8' }).trim();
    };
    expect(verdict(secret.reveal(), headers, body, 1_000)).toBe('true');
    expect(verdict(secret.reveal(), headers, `${body} `, 1_000)).toBe('false');
    expect(verdict(newSigningSecret().reveal(), headers, body, 1_000)).toBe('false');
    expect(verdict(secret.reveal(), headers, body, 2_000)).toBe('false');
  },
);
