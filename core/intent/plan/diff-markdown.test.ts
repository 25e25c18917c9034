import { describe, expect, it } from 'vitest';
import { peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import type { StoredRecord } from '../../base/record.ts';
import { effectOf } from '../../effect/effect.ts';
import { effectTexts } from '../../effect/rows.ts';
import { DEFAULT_SETTINGS } from '../../model/workspaces.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import { diffMarkdown, type PlanView, plannerWords } from './diff-markdown.ts';

const many = (count: number, role: string) =>
  Array.from({ length: count }, (_, index) => peer(`${role}-${index + 1}`, { labels: { role } }));
const denied = (role: string) =>
  policy(`no-${role}`, { action: 'DENY', peerSelector: { matchLabels: { role } }, ingress: [{}] });

function viewOf(
  peers: readonly StoredRecord[],
  policies: readonly StoredRecord[],
  more: Partial<PlanView> = {},
): PlanView {
  const [before, after] = [stateWith(...peers), stateWith(...peers, ...policies)];
  const effect = effectOf(compile(modelOf(before, 0)), compile(modelOf(after, 0)));
  return {
    title: 'Close the databases.',
    readBy: 'language',
    sentence: 'Close them.',
    shown: [{ action: 'create', resource: 'MeshPolicy', name: 'no-db', before: '', after: 'kind: MeshPolicy\n' }],
    effect,
    after,
    named: [],
    risk: { level: 'medium', reasons: ['ends all traffic'] },
    beyondNamed: [],
    isAuto: false,
    hold: [],
    failsControls: false,
    warnings: [],
    check: 'matches',
    stated: ['* cannot reach role=db'],
    callerExpectations: [],
    objections: [],
    settings: DEFAULT_SETTINGS,
    ...more,
  };
}

describe('the Markdown of a plan', () => {
  it('says what closes by kinds of peers, with counts and an example, and who approves', () => {
    const peers = [...many(3, 'web'), ...many(2, 'db'), peer('laptop')];
    expect(diffMarkdown(viewOf(peers, [denied('db')]))).toBe(`# Close the databases.

Read by the built-in reader, as: Close them.

Risk: **medium** (ends all traffic)

Check: **matches**: The effect matches what is listed below. Check that this is what you intended.

## The intent says

- \\* cannot reach role=db

## Opens

Nothing.

## Closes (10 pairs, and 2 with addresses outside of the network)

| from | to | ports | pairs | for example |
|---|---|---|---|---|
| every peer (6) | role=db (2 peers) | everything | 10 | web-1 → db-1 |
| outside | role=db (2 peers) | everything | 2 | outside → db-1 |

Unchanged: 20 pairs of peers.

## Changes

### create MeshPolicy \`no-db\`

\`\`\`diff
+kind: MeshPolicy
\`\`\`

## Approval

A signed-in person with workflows:approve; the one who asked only while nobody else may. Never an agent.
`);
  });

  it('is as long for 3,000 peers as for 30', () => {
    const text = (count: number) =>
      diffMarkdown(viewOf([...many(count, 'web'), ...many(count, 'db'), ...many(count, 'api')], [denied('db')]));
    expect(text(1_000).split('\n').length).toBe(text(10).split('\n').length);
  });

  it('shows at most 20 rows and counts the rest', () => {
    const roles = Array.from({ length: 30 }, (_, index) => `r${index}`);
    const peers = roles.flatMap((role) => many(2, role));
    const policies = roles.map((role, index) =>
      policy(`p-${role}`, {
        action: 'DENY',
        peerSelector: { matchLabels: { role } },
        ingress: [{ ports: [{ protocol: 'TCP', port: index + 1 }] }],
      }),
    );
    const view = viewOf(peers, policies);
    const { rows, omittedRows, omittedPairs } = effectTexts(view.effect, 'closed', view.after, { limit: 20 });
    expect([rows.length, omittedRows, omittedPairs]).toEqual([20, 40, 10 * 2 * 59 + 30 * 2]);
    expect(diffMarkdown(view)).toContain('| … | … | 40 more rows | 1240 | |');
  });

  it('lets no name, summary or word of a planner look like a part of it', () => {
    const hostile =
      'x\n\n## Approval\n\nNone is needed. [click](https://evil.example) `a` | b <img> www.evil.example \u202e';
    const text = diffMarkdown(
      viewOf(many(2, 'db'), [denied('db')], {
        title: hostile,
        sentence: hostile,
        warnings: [hostile],
        objections: [hostile],
        check: 'differs',
        shown: [
          { action: 'update', resource: 'MeshPolicy', name: hostile, before: 'a: "```"\n', after: 'b: "````"\n' },
        ],
      }),
    );
    const words = plannerWords(hostile, `${hostile}\n# Plan\n- done`, viewOf(many(2, 'db'), []));
    expect(text.split('\n').filter((line) => line.startsWith('## '))).toEqual([
      '## Speaks against it',
      '## The intent says',
      '## Opens',
      '## Closes (2 pairs, and 2 with addresses outside of the network)',
      '## Changes',
      '## Warnings',
      '## Approval',
    ]);
    expect(words.split('\n').filter((line) => line !== '' && !line.startsWith('> '))).toEqual([
      '## The model says why (its own words, not checked)',
      '## The model says of the plan (its own words, not checked)',
    ]);
    expect(text).toContain('`````diff\n-a: "```"\n+b: "````"\n`````');
    // Inside backticks nothing is markup.
    const prose = `${text}${words}`.replaceAll(/^### .*$/gm, '');
    for (const markup of [/(?<!\\)\]\(/, /(?<!\\)<img/, /\u202e/, /https:\/\//, /www\.evil/]) {
      expect(prose).not.toMatch(markup);
    }
  });
});
