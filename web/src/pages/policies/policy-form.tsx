import { allPages } from '../../api/all-pages.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { PolicySpec } from '../../api/types.ts';
import { workspaceId } from '../../api/workspace.ts';
import { useWorkspaceZone } from '../../api/workspace-zone.ts';
import { instantOf, instantOfLocal, localText } from '../../time/moment.ts';
import { useFaults } from '../../ui/form.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { viewerTime } from '../../ui/zoned-time.tsx';
import { ParsedField } from './parsed-field.tsx';
import type { PolicyDocument, PolicyDraft } from './policy-yaml.ts';
import { type Direction, RulesForm } from './rules-form.tsx';
import { SelectorFields } from './selector-fields.tsx';

const ACTIONS = {
  ALLOW: 'ALLOW: allows what the rules match, denies the rest',
  DENY: 'DENY: denies what the rules match',
} as const;

interface PolicyFormProps {
  readonly document: PolicyDocument;
  readonly isNew: boolean;
  readonly change: (document: PolicyDocument) => void;
}

/** As much of a local time as the field takes. */
const MINUTES = 'YYYY-MM-DDTHH:MM'.length;

/** A policy in fields: each change is written into the document at once. */
export function PolicyForm({ document, isNew, change }: PolicyFormProps) {
  const { metadata, spec } = document;
  const edit = (fields: Partial<Loose>) => change({ ...document, spec: inOrder({ ...spec, ...fields }) });
  const editRules = (direction: Direction) => (rules: PolicySpec[Direction]) => edit({ [direction]: rules });
  return (
    <>
      {isNew && (
        <ParsedField
          label="Name"
          hint="Letters, digits, -, _ or .; the name cannot be changed."
          at={['/metadata/name', '/name']}
          value={metadata.name}
          text={(name) => name}
          read={(text) => ({ value: text.trim() })}
          change={(name) => change({ ...document, metadata: { ...metadata, name } })}
        />
      )}
      <ActionField action={spec.action} change={(action) => edit({ action })} />
      <fieldset class="stack-small">
        <legend class="label">Applies to</legend>
        <SelectorFields
          selector={spec.peerSelector}
          mustBeSaid
          at="/spec/peerSelector"
          change={(peerSelector) => edit({ peerSelector })}
        />
      </fieldset>
      <RulesForm direction="ingress" rules={spec.ingress} change={editRules('ingress')} />
      <RulesForm direction="egress" rules={spec.egress} change={editRules('egress')} />
      <NetworkField network={spec.network} change={(network) => edit({ network })} />
      <TimeFields startsAt={spec.startsAt} expiresAt={spec.expiresAt} change={edit} />
    </>
  );
}

function ActionField({
  action,
  change,
}: {
  action: PolicySpec['action'];
  change: (action: PolicySpec['action']) => void;
}) {
  const { marks, faults } = useFaults('Action');
  return (
    <label class="field">
      Action
      <select
        {...marks}
        value={action}
        onChange={({ currentTarget }) => change(currentTarget.value as PolicySpec['action'])}
      >
        {(['ALLOW', 'DENY'] as const).map((name) => (
          <option key={name} value={name}>
            {ACTIONS[name]}
          </option>
        ))}
      </select>
      {faults}
    </label>
  );
}

/** As the documentation writes a policy; what is undefined is left out. */
function inOrder({ action, network, peerSelector, ingress, egress, startsAt, expiresAt }: Loose): PolicyDraft {
  return {
    action,
    ...(network !== undefined && { network }),
    ...(peerSelector && { peerSelector }),
    ...(ingress && { ingress }),
    ...(egress && { egress }),
    ...(startsAt !== undefined && { startsAt }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

type Loose = { [F in keyof PolicyDraft]: PolicyDraft[F] | undefined } & Pick<PolicyDraft, 'action'>;

function NetworkField({
  network = '',
  change,
}: {
  network: string | undefined;
  change: (network: string | undefined) => void;
}) {
  const loaded = useLoaded(() => {
    workspaceId.value;
    return allPages((cursor) =>
      api.GET('/api/v1/networks', { params: { query: { limit: 200, ...(cursor && { cursor }) } } }),
    );
  });
  const { marks, faults } = useFaults('Network');
  const { value = [] } = loaded.value;
  const names = value.map(({ name }) => name);
  const all = network === '' || names.includes(network) ? names : [network, ...names];
  return (
    <>
      <ReadResult of={loaded.value} loading="" />
      <label class="field">
        Network
        <select {...marks} value={network} onChange={({ currentTarget }) => change(currentTarget.value || undefined)}>
          <option value="">all networks</option>
          {all.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        {faults}
      </label>
    </>
  );
}

type Times = Pick<Loose, 'startsAt' | 'expiresAt'>;

/** When it begins and ends, by the clocks of the workspace as in orders. */
function TimeFields({ startsAt, expiresAt, change }: Times & { readonly change: (times: Partial<Times>) => void }) {
  const zone = useWorkspaceZone().value;
  return (
    <>
      <ReadResult of={zone} loading="" />
      <TimeField
        label="Begins at"
        field="startsAt"
        none="at once"
        at={startsAt}
        timeZone={zone.value}
        change={(at) => change({ startsAt: at })}
      />
      <TimeField
        label="Ends at"
        field="expiresAt"
        none="no end"
        at={expiresAt}
        timeZone={zone.value}
        change={(at) => change({ expiresAt: at })}
      />
    </>
  );
}

interface TimeFieldProps {
  readonly label: string;
  readonly field: string;
  /** What an empty field means. */
  readonly none: string;
  readonly at: string | undefined;
  /** Of the workspace; undefined until it is known. */
  readonly timeZone: string | undefined;
  readonly change: (at: string | undefined) => void;
}

function TimeField({ label, field, none, at, timeZone, change }: TimeFieldProps) {
  const { marks, faults } = useFaults(label, [field]);
  const instant = instantOf(at);
  const own = instant && timeZone && viewerTime(instant, timeZone);
  return (
    <label class="field">
      {label}
      <input
        {...marks}
        type="datetime-local"
        disabled={timeZone === undefined}
        value={instant && timeZone ? localText(instant, timeZone).slice(0, MINUTES) : ''}
        onChange={({ currentTarget: { value } }) => change(instantOfLocal(value, timeZone)?.replace('.000Z', 'Z'))}
      />
      <span class="hint dim break">
        {timeZone && `In ${timeZone}.`}
        {own && ` That is ${own}.`} Empty: {none}.
      </span>
      {faults}
    </label>
  );
}
