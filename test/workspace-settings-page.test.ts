import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DEFAULT_SETTINGS, settingsSchema } from '../core/model/workspaces.ts';
import { updateWorkspace } from '../tools/workspaces/update-workspace.ts';

const PAGE = readFileSync(new URL('../docs/accounts-and-tokens.md', import.meta.url), 'utf8');
const [, section = ''] = PAGE.split('## Settings of a workspace\n');
const [settings = ''] = section.split('\n## ');

test('each setting of a workspace has its row, with what holds where it is unset', () => {
  const rows = new Map(
    [...settings.matchAll(/^\| `(\w+)` \| (.+?) \|/gm)].map(([, name = '', unset = '']) => [name, unset]),
  );
  expect([...rows.keys()].sort()).toEqual(Object.keys(settingsSchema.shape).sort());
  for (const [name, value] of Object.entries(DEFAULT_SETTINGS)) expect(rows.get(name)).toBe(`\`${value}\``);
});

test('every other field of a workspace that can be changed is in the section', () => {
  for (const field of Object.keys(updateWorkspace.input.shape)) expect(settings).toContain(field);
});
