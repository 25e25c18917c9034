import { useSignal } from '@preact/signals';
import type { WorkspaceDetail } from '../../../api/types.ts';
import { may } from '../../../api/workspace.ts';
import { texts } from '../../../texts/texts.ts';
import { workspaceSettings as words } from '../../../texts/workspace-settings.ts';
import { useAct } from '../../../ui/act.ts';
import { Facts } from '../../../ui/facts.tsx';
import { CheckField, SelectField } from '../../../ui/field.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { type SettingsPatch, saveSettings } from './save-settings.ts';

type Settings = WorkspaceDetail['settings'];
type Self = keyof typeof words.self;
type Auto = keyof typeof words.autos;

interface Props {
  readonly settings: Settings;
  readonly id: string;
}

const selfOf = ({ selfApproval }: Settings): Self => (selfApproval === undefined ? '' : selfApproval ? 'yes' : 'no');
const autoOf = ({ autoApprove }: Settings): Auto => autoApprove?.maxRisk ?? '';

/** What waits for a person, and who may decide it. */
export function Approval({ settings, id }: Props) {
  return (
    <section class="stack" aria-labelledby="approval">
      <h2 id="approval">{words.approval}</h2>
      <p class="dim">{words.approvalWhy}</p>
      {may('members:write') ? (
        <ApprovalForm settings={settings} id={id} />
      ) : (
        <Facts
          facts={[
            [words.requirePeer, settings.requirePeerApproval ? texts.common.yes : texts.common.no],
            [words.requireApproval, settings.requireApproval ? texts.common.yes : texts.common.no],
            [words.selfApproval, words.self[selfOf(settings)]],
            [words.approvalCode, settings.approvalCode ? texts.common.yes : texts.common.no],
            [words.auto, words.autos[autoOf(settings)]],
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
  const { isActing, problem, act } = useAct();
  const patch = (): SettingsPatch => ({
    ...(requirePeer.value !== settings.requirePeerApproval && { requirePeerApproval: requirePeer.value }),
    ...(requireApproval.value !== settings.requireApproval && { requireApproval: requireApproval.value }),
    ...(approvalCode.value !== (settings.approvalCode ?? false) && { approvalCode: approvalCode.value }),
    ...(self.value !== selfOf(settings) && { selfApproval: self.value === '' ? null : self.value === 'yes' }),
    ...(auto.value !== autoOf(settings) && {
      autoApprove: auto.value === '' ? null : { maxRisk: auto.value as Exclude<Auto, ''> },
    }),
  });
  const isSame = Object.keys(patch()).length === 0;
  const submit = (event: Event) => {
    event.preventDefault();
    return act(() => saveSettings(id, patch()));
  };
  return (
    <form class="stack narrow" onSubmit={submit}>
      <div>
        <CheckField label={words.requirePeer} hint={words.requirePeerHint} value={requirePeer} />
        <CheckField label={words.requireApproval} hint={words.requireApprovalHint} value={requireApproval} />
        <CheckField label={words.approvalCode} hint={words.approvalCodeHint} value={approvalCode} />
      </div>
      <SelectField label={words.selfApproval} value={self} options={Object.entries(words.self)} />
      <SelectField label={words.auto} hint={words.autoHint} value={auto} options={Object.entries(words.autos)} />
      {['high', 'critical'].includes(auto.value) && (
        <p class="notice danger">
          <strong>▲ {words.autoWarning}</strong>
        </p>
      )}
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="submit" disabled={isActing.value || isSame}>
          {texts.common.save}
        </button>
      </div>
    </form>
  );
}
