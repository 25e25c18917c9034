import { expect, test } from 'vitest';
import type { Blockage } from './blockages.ts';
import { linuxHostRules } from './host-rules.ts';

const BLOCKED: Blockage = { table: 'inet filter', chain: 'web', rule: { handle: 9, text: 'drop' }, what: ['all'] };
const LISTING = `table inet filter { # handle 1
	chain web { # handle 2
		drop # handle 9
	}
	chain input { # handle 3
		type filter hook input priority filter; policy accept;
		iifname "mesh0" accept comment "mesh mesh0" # handle 11
		iifname "mesh1" accept comment "mesh mesh1" # handle 12
		jump web # handle 4
	}
}
`;

/** A host whose programs answer as in `answers`, and else fail. */
function host(answers: Readonly<Record<string, string>>) {
  const did: string[] = [];
  const rules = linuxHostRules('mesh0', async (file, args, { stdin = '' } = {}) => {
    const line = [file, ...args].join(' ');
    did.push(stdin === '' ? line : `${line} ${stdin.trim()}`);
    const stdout = answers[line];
    return { code: stdout === undefined ? 1 : 0, stdout: stdout ?? '', stderr: '' };
  });
  /** Without what only looks. */
  const changes = () => did.splice(0).filter((line) => !/ status$|--state$| list /.test(line));
  return { rules, changes };
}

test('ufw keeps the rule itself where it is active, and takes it away', async () => {
  const { rules, changes } = host({ 'ufw status': 'Status: active\n' });
  expect([await rules.open([BLOCKED]), changes()]).toEqual(['ufw', ['ufw allow in on mesh0 comment mesh mesh0']]);
  await rules.close();
  expect(changes()).toEqual(['ufw --force delete allow in on mesh0']);
});

test('firewalld has the interface in its zone trusted, now and after a reload', async () => {
  const { rules, changes } = host({ 'ufw status': 'Status: inactive\n', 'firewall-cmd --state': 'running\n' });
  const zone = (verb: string) => [
    `firewall-cmd --zone=trusted --${verb}-interface=mesh0`,
    `firewall-cmd --permanent --zone=trusted --${verb}-interface=mesh0`,
  ];
  expect([await rules.open([BLOCKED]), changes()]).toEqual(['firewalld', zone('add')]);
  await rules.close();
  expect(changes()).toEqual(zone('remove'));
});

test('without a tool the rule is put where packets meet the table that drops, once, and goes by its comment', async () => {
  const bare = LISTING.replace(/^.*mesh mesh0.*\n/m, '');
  const { rules, changes } = host({ 'nft --terse --handle list ruleset': bare });
  expect([await rules.open([BLOCKED]), changes()]).toEqual([
    'nft',
    ['nft -f - insert rule inet filter input iifname "mesh0" accept comment "mesh mesh0"'],
  ]);
  const opened = host({ 'nft --terse --handle list ruleset': LISTING });
  await opened.rules.open([BLOCKED]);
  expect(opened.changes()).toEqual([]);
  await opened.rules.close();
  expect(opened.changes()).toEqual(['nft delete rule inet filter input handle 11']);
});
