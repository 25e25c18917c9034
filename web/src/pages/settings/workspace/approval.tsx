import { useSignal } from '@preact/signals';
import type { WorkspaceDetail } from '../../../api/types.ts';
import { may } from '../../../api/workspace.ts';
import { useAct } from '../../../ui/act.ts';
import { Facts } from '../../../ui/facts.tsx';
import { CheckField, SelectField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { type SettingsPatch, saveSettings } from './save-settings.ts';

const SELF = { '': 'only while there is a single approver', yes: 'yes', no: 'no, always another person' } as const;

const AUTOS = {
  '': 'nothing',
  low: 'low risk',
  medium: 'up to medium risk',
  high: 'up to high risk',
  critical: 'any risk',
} as const;

const AUTO_FROMS = {
  '': 'plans that match their sentence',
  person: 'orders of people',
  agent: 'orders of agents',
  'person,agent': 'orders of people and agents',
} as const;

type Settings = WorkspaceDetail['settings'];
type Self = keyof typeof SELF;
type Auto = keyof typeof AUTOS;
type From = keyof typeof AUTO_FROMS;

interface Props {
  readonly settings: Settings;
  readonly id: string;
}

const selfOf = ({ selfApproval }: Settings): Self => (selfApproval === undefined ? '' : selfApproval ? 'yes' : 'no');
const autoOf = ({ autoApprove }: Settings): Auto => autoApprove?.maxRisk ?? '';
const fromOf = ({ autoApprove }: Settings): From => {
  const isFrom = (requester: 'person' | 'agent') => autoApprove?.from?.includes(requester) === true;
  if (isFrom('person')) return isFrom('agent') ? 'person,agent' : 'person';
  return isFrom('agent') ? 'agent' : '';
};
/** Returns the requesters that a choice names. */
const requestersOf = (from: From) => (from === '' ? [] : (from.split(',') as ('person' | 'agent')[]));

/** What waits for a person, and who may decide it. */
export function Approval({ settings, id }: Props) {
  return (
    <section class="stack" aria-labelledby="approval">
      <h2 id="approval">Approval</h2>
      <p class="dim">Which changes need approval, and from whom.</p>
      {may('members:write') ? (
        <ApprovalForm settings={settings} id={id} />
      ) : (
        <Facts
          facts={[
            ['New devices wait for approval', settings.requirePeerApproval ? 'yes' : 'no'],
            ['Direct changes wait for approval too', settings.requireApproval ? 'yes' : 'no'],
            ['Requesters may approve their own changes', SELF[selfOf(settings)]],
            ['Require a 2FA code to approve', settings.approvalCode ? 'yes' : 'no'],
            ['Apply without approval', AUTOS[autoOf(settings)]],
            ['Of these plans', settings.autoApprove && AUTO_FROMS[fromOf(settings)]],
          ]}
        />
      )}
    </section>
  );
}

function ApprovalForm({ settings, id }: Props) {
  const requirePeer = useSignal(settings.requirePeerApproval);
  const requireApproval = useSignal(settings.requireApproval);
  const approvalCode = useSignal(settings.approvalCode ?? false);
  const self = useSignal<string>(selfOf(settings));
  const auto = useSignal<string>(autoOf(settings));
  const from = useSignal<string>(fromOf(settings));
  const { isActing, problem, act } = useAct();
  const patch = (): SettingsPatch => ({
    ...(requirePeer.value !== settings.requirePeerApproval && { requirePeerApproval: requirePeer.value }),
    ...(requireApproval.value !== settings.requireApproval && { requireApproval: requireApproval.value }),
    ...(approvalCode.value !== (settings.approvalCode ?? false) && { approvalCode: approvalCode.value }),
    ...(self.value !== selfOf(settings) && { selfApproval: self.value === '' ? null : self.value === 'yes' }),
    ...((auto.value !== autoOf(settings) || (auto.value !== '' && from.value !== fromOf(settings))) && {
      autoApprove: auto.value === '' ? null : autoApprove(),
    }),
  });
  const autoApprove = () => ({
    maxRisk: auto.value as Exclude<Auto, ''>,
    ...(from.value !== '' && { from: requestersOf(from.value as From) }),
  });
  const isSame = Object.keys(patch()).length === 0;
  const submit = (event: Event) => {
    event.preventDefault();
    return act(() => saveSettings(id, patch()));
  };
  return (
    <Form problem={problem} class="stack narrow" onSubmit={submit}>
      <div>
        <CheckField
          label="New devices wait for approval"
          fields={['requirePeerApproval']}
          hint="A new device has no address and no connections until someone approves it."
          value={requirePeer}
        />
        <CheckField
          label="Direct changes wait for approval too"
          fields={['requireApproval']}
          hint="Every change by hand, by file and by token, not only those of agents."
          value={requireApproval}
        />
        <CheckField
          label="Require a 2FA code to approve"
          fields={['approvalCode']}
          hint="Approvers without a second factor cannot approve."
          value={approvalCode}
        />
      </div>
      <SelectField
        label="Requesters may approve their own changes"
        fields={['selfApproval']}
        value={self}
        options={Object.entries(SELF)}
      />
      <SelectField
        label="Apply without approval"
        fields={['autoApprove']}
        hint="Plans up to this risk whose effect is fully known."
        value={auto}
        options={Object.entries(AUTOS)}
      />
      {auto.value !== '' && <SelectField label="Of these plans" value={from} options={Object.entries(AUTO_FROMS)} />}
      {['high', 'critical'].includes(auto.value) && (
        <p class="notice danger">
          <strong>▲ Agents change the network without review.</strong>
        </p>
      )}
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="submit" disabled={isActing.value || isSame}>
          Save
        </button>
      </div>
    </Form>
  );
}
