import { expect, test } from 'vitest';
import { type AgentNames, isForAgent, withAgentNames, withAgentNamesIn } from '../../web/src/ui/agent-names.ts';

const AGENTS: AgentNames = new Map([
  ['agt_dk7mf732dslbrexbqlp7tcufud', { name: 'smoke-tests', parentRef: { name: 'release-bot', namespace: 'prod' } }],
  ['agt_root', { name: 'release-bot', parentRef: null }],
]);

test.each([
  ['agt_dk7mf732dslbrexbqlp7tcufud.sandboxed', 'smoke-tests · sandboxed (release-bot)'],
  ['agt_dk7mf732dslbrexbqlp7tcufud.sandboxed-2', 'smoke-tests · sandboxed-2 (release-bot)'],
  ['agt_root.inherit', 'release-bot · inherit'],
  ['mesh.internal/agent=agt_root role=ci', 'agent release-bot role=ci'],
  ['mesh.internal/parent=agt_root', 'sub-agents of release-bot'],
  ['agt_gone.sandboxed', 'agt_gone.sandboxed'],
])('%s is shown as %s', (text, shown) => {
  expect(withAgentNames(text, AGENTS)).toBe(shown);
});

test('every text of an answer bears names, however deep it is, and all else stays', () => {
  const answer = {
    total: 2,
    next: null,
    items: [{ name: 'agt_root.inherit', ends: ['mesh.internal/agent=agt_root'] }],
  };
  expect(withAgentNamesIn(answer, AGENTS)).toEqual({
    ...answer,
    items: [{ name: 'release-bot · inherit', ends: ['agent release-bot'] }],
  });
});

test('a policy is one of an agent by the id that its name begins with', () => {
  expect(isForAgent('agt_root.inherit')).toBe(true);
  expect(isForAgent('to-agt_root.inherit')).toBe(false);
  expect(isForAgent('web-to-db')).toBe(false);
});
