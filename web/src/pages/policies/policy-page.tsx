import { useSignal } from '@preact/signals';
import { useAgentNames } from '../../api/agents.ts';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Problem } from '../../api/problem.ts';
import type { Finding, Policy } from '../../api/types.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { useWorkspaceZone } from '../../api/workspace-zone.ts';
import { linkTo, queryPart } from '../../route/route.ts';
import { type AgentNames, withAgentNames } from '../../ui/agent-names.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Lines } from '../../ui/lines.tsx';
import { Page } from '../../ui/page.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { YamlEditor } from '../../ui/yaml-editor.tsx';
import { ZonedTime } from '../../ui/zoned-time.tsx';
import { DeletePolicy } from './delete-policy.tsx';
import { FindingLine } from './finding-line.tsx';
import { heldBy, titleOf } from './held.ts';
import { PolicyEditor } from './policy-editor.tsx';
import { documentOf, type PolicyDraft, yamlOf } from './policy-yaml.ts';
import { readFindings, readPolicies } from './read-policies.ts';
import { sentencesOf } from './sentence.ts';

/** One policy: what it says, what is odd about it, and the means to change it. */
export function PolicyPage({ name }: { name: string }) {
  const loaded = useLoaded((abort) => {
    workspaceId.value;
    return readPolicy(name, queryPart('at'), abort);
  });
  const agents = useAgentNames();
  // Typed by hand: a policy that is called so has its page.
  if (name === 'new' && loaded.value.problem?.code === 'not_found') return <NewPolicy />;
  const policy = loaded.value.value;
  const title = policy ? titleOf(policy, agents.value.value) : withAgentNames(name, agents.value.value);
  return (
    <Page title={title} actions={<a href={linkTo('policies')}>All policies</a>}>
      <ReadResult of={agents.value} loading="" />
      <ReadResult of={loaded.value}>{(policy) => <Body policy={policy} agents={agents.value.value} />}</ReadResult>
    </Page>
  );
}

function Body({ policy, agents }: { policy: Policy; agents: AgentNames | undefined }) {
  const holds = heldBy(policy);
  const mayChange = holds === undefined && may('network:write') && queryPart('at') === null;
  const { spec } = policy;
  const zone = useWorkspaceZone().value;
  const timeZone = zone.value;
  return (
    <>
      <ReadResult of={zone} loading="" />
      <section class="stack-small">
        <Lines lines={sentencesOf(spec).map((sentence) => withAgentNames(sentence, agents))} />
        <Facts
          facts={[
            ['Applies to', policy.status.matchedPeers === 1 ? '1 peer' : `${policy.status.matchedPeers} peers`],
            ['Begins', spec.startsAt && <Instant key="begins" at={spec.startsAt} timeZone={timeZone} />],
            ['Ends', spec.expiresAt && <Instant key="ends" at={spec.expiresAt} timeZone={timeZone} />],
            ['Made by', holds && `the control plane, to hold ${holds} to a preset`],
            ['Created', <Time key="created" at={policy.createdAt} />],
            [
              'Id',
              <span key="id">
                <code>{policy.id}</code> <CopyButton text={policy.id} />
              </span>,
            ],
          ]}
        />
      </section>
      <OwnFindings name={policy.name} />
      {mayChange ? (
        <>
          <PolicyEditor stored={policy} initial={textOf(policy)} />
          <DeletePolicy policy={policy} />
        </>
      ) : (
        <ReadOnly key={policy.revision} text={textOf(policy)} />
      )}
    </>
  );
}

/** By the clocks of the workspace; and, where now is looked at, how far away it is. */
function Instant({ at, timeZone }: { at: string; timeZone: string | undefined }) {
  return (
    <>
      <ZonedTime at={at} timeZone={timeZone} />
      {queryPart('at') === null && (
        <>
          , <Time at={at} />
        </>
      )}
    </>
  );
}

/** What lint finds about it. */
function OwnFindings({ name }: { name: string }) {
  const loaded = useLoaded((abort) => readFindings(queryPart('at'), abort));
  return (
    <ReadResult of={loaded.value} loading="">
      {({ items }) => <FindingList findings={items.filter(({ policies: [about] }) => about === name)} />}
    </ReadResult>
  );
}

function FindingList({ findings }: { findings: readonly Finding[] }) {
  if (findings.length === 0) return null;
  return (
    <section class="notice warn" aria-label="Findings">
      <ul class="stack-small">
        {findings.map((finding) => (
          <li key={JSON.stringify(finding)}>
            <FindingLine finding={finding} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ReadOnly({ text }: { text: string }) {
  const value = useSignal(text);
  return <YamlEditor label="YAML" value={value} isReadOnly />;
}

function textOf(policy: Policy): string {
  return yamlOf(documentOf(policy, policy.spec));
}

export interface Example {
  readonly name: string;
  readonly spec: PolicyDraft;
}

/** @param saved the address that it leads to once the policy is saved; without one that of the policy */
export function NewPolicyEditor({ example, saved }: { example?: Example; saved?: string }) {
  const begun = example && yamlOf(documentOf({ name: example.name }, example.spec));
  return <PolicyEditor stored={undefined} initial={BEGIN} begun={begun} saved={saved} />;
}

const BEGIN = yamlOf(documentOf({ name: '' }, { action: 'ALLOW', ingress: [] }));

export function NewPolicy() {
  const mayChange = may('network:write') && queryPart('at') === null;
  return (
    <Page title="New policy" actions={<a href={linkTo('policies')}>All policies</a>}>
      {mayChange ? <NewPolicyEditor /> : <p>You can read policies but not change them.</p>}
    </Page>
  );
}

/** As it is, or as it was at an instant. */
async function readPolicy(name: string, at: string | null, signal: AbortSignal): Promise<Policy> {
  if (!at) return await answer(api.GET('/api/v1/policies/{id}', { params: { path: { id: name } }, signal }));
  const policy = (await readPolicies(at, signal)).find((one) => one.name === name);
  if (!policy) throw new Problem({ title: `The policy ${name} did not exist then.`, code: 'not_found', status: 404 });
  return policy;
}
