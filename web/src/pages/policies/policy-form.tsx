import { allPages } from '../../api/all-pages.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { FieldFault } from '../../api/problem.ts';
import type { PolicySpec } from '../../api/types.ts';
import { workspaceId } from '../../api/workspace.ts';
import { instantOfLocal, localText } from '../../time/moment.ts';
import { ReadResult } from '../../ui/read-result.tsx';
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
  /** Errors from the control plane. */
  readonly faults: readonly FieldFault[];
  readonly change: (document: PolicyDocument) => void;
}

/** As much of a local time as the field takes. */
const MINUTES = 'YYYY-MM-DDTHH:MM'.length;

/** A policy in fields: each change is written into the document at once. */
export function PolicyForm({ document, isNew, faults, change }: PolicyFormProps) {
  const { metadata, spec } = document;
  const edit = (fields: Partial<Loose>) => change({ ...document, spec: inOrder({ ...spec, ...fields }) });
  const editRules = (direction: Direction) => (rules: PolicySpec[Direction]) => edit({ [direction]: rules });
  return (
    <>
      {isNew && (
        <ParsedField
          label="Name"
          hint="Letters, digits, -, _ or .; the name cannot be changed."
          value={metadata.name}
          text={(name) => name}
          read={(text) => ({ value: text.trim() })}
          change={(name) => change({ ...document, metadata: { ...metadata, name } })}
        />
      )}
      {isNew && <Faults faults={faults} at="/metadata/name" />}
      <label class="field">
        Action
        <select
          value={spec.action}
          onChange={({ currentTarget }) => edit({ action: currentTarget.value as PolicySpec['action'] })}
        >
          {(['ALLOW', 'DENY'] as const).map((action) => (
            <option key={action} value={action}>
              {ACTIONS[action]}
            </option>
          ))}
        </select>
      </label>
      <fieldset class={`stack-small ${isFaulty(faults, '/spec/peerSelector') ? 'faulty' : ''}`}>
        <legend class="label">Applies to</legend>
        <SelectorFields selector={spec.peerSelector} mustBeSaid change={(peerSelector) => edit({ peerSelector })} />
        <Faults faults={faults} at="/spec/peerSelector" />
      </fieldset>
      <RulesForm direction="ingress" rules={spec.ingress} change={editRules('ingress')} />
      <Faults faults={faults} at="/spec/ingress" />
      <RulesForm direction="egress" rules={spec.egress} change={editRules('egress')} />
      <Faults faults={faults} at="/spec/egress" />
      <NetworkField network={spec.network} change={(network) => edit({ network })} />
      <Faults faults={faults} at="/spec/network" />
      <EndField at={spec.expiresAt} change={(expiresAt) => edit({ expiresAt })} />
      <Faults faults={faults} at="/spec/expiresAt" />
    </>
  );
}

/** Documents are told apart before the place within one: `/documents/0/spec/ingress/0`. */
function faultsAt(faults: readonly FieldFault[], at: string): readonly FieldFault[] {
  return faults.filter(({ pointer }) =>
    `${pointer.replace(/^.*?(?=\/(?:spec|metadata)(?:\/|$))/, '')}/`.startsWith(`${at}/`),
  );
}

const isFaulty = (faults: readonly FieldFault[], at: string) => faultsAt(faults, at).length > 0;

function Faults({ faults, at }: { faults: readonly FieldFault[]; at: string }) {
  return (
    <>
      {faultsAt(faults, at).map(({ pointer, detail }) => (
        <p key={`${pointer} ${detail}`} class="fault break">
          {detail}
        </p>
      ))}
    </>
  );
}

/** As the documentation writes a policy; what is undefined is left out. */
function inOrder({ action, network, peerSelector, ingress, egress, expiresAt }: Loose): PolicyDraft {
  return {
    action,
    ...(network !== undefined && { network }),
    ...(peerSelector && { peerSelector }),
    ...(ingress && { ingress }),
    ...(egress && { egress }),
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
  const { value = [] } = loaded.value;
  const names = value.map(({ name }) => name);
  const all = network === '' || names.includes(network) ? names : [network, ...names];
  return (
    <>
      <ReadResult of={loaded.value} loading="" />
      <label class="field">
        Network
        <select value={network} onChange={({ currentTarget }) => change(currentTarget.value || undefined)}>
          <option value="">all networks</option>
          {all.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

function EndField({ at, change }: { at: string | undefined; change: (at: string | undefined) => void }) {
  return (
    <label class="field">
      Ends at
      <input
        type="datetime-local"
        value={at === undefined || Number.isNaN(Date.parse(at)) ? '' : localText(at).slice(0, MINUTES)}
        onChange={({ currentTarget: { value } }) => change(instantOfLocal(value)?.replace('.000Z', 'Z'))}
      />
      <span class="hint dim">In your time zone. Empty: no end.</span>
    </label>
  );
}
