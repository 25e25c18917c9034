import type { Selector } from '../../api/types.ts';
import { ParsedField } from './parsed-field.tsx';
import { PartFaults } from './part-faults.tsx';
import { labelsOf, labelsText, namesOf } from './selector-text.ts';

interface SelectorFieldsProps {
  /** Undefined where nobody has said yet which peers are meant. */
  readonly selector: Selector | undefined;
  /** True where an empty selector is refused instead of meaning every peer. */
  readonly mustBeSaid?: boolean;
  /** Its pointer in the policy. */
  readonly at: string;
  readonly change: (next: Selector | undefined) => void;
}

/** Which peers are meant: by labels, by name, and which are left out. */
export function SelectorFields({ selector: stored, mustBeSaid = false, at, change }: SelectorFieldsProps) {
  const selector = stored ?? {};
  const { matchLabels, matchExpressions, peers, notPeers } = selector;
  const isEveryPeer = stored !== undefined && Object.keys(stored).length === 0;
  const labels = { ...(matchLabels && { matchLabels }), ...(matchExpressions && { matchExpressions }) };
  const listed = { ...(peers && { peers }), ...(notPeers && { notPeers }) };
  const say = (next: Selector) => change(mustBeSaid && Object.keys(next).length === 0 ? undefined : next);
  const names = (field: 'peers' | 'notPeers') => ({
    at: [`${at}/${field}`],
    value: selector[field] ?? [],
    text: (value: readonly string[]) => value.join(' '),
    read: (text: string) => ({ value: namesOf(text) }),
    change: (value: string[]) => {
      const { [field]: _, ...others } = listed;
      say({ ...labels, ...others, ...(value.length > 0 && { [field]: value }) });
    },
  });
  return (
    <div class="selector">
      <ParsedField
        label="Labels"
        hint={
          mustBeSaid
            ? 'As role=db, env in (prod, stage), tier!=old, gpu, !legacy. Required, unless you name peers below or choose every peer.'
            : 'As role=db, env in (prod, stage), tier!=old, gpu, !legacy. Empty: every peer.'
        }
        at={[`${at}/matchLabels`, `${at}/matchExpressions`]}
        value={labels}
        text={labelsText}
        read={(text) => {
          const value = labelsOf(text);
          return typeof value === 'string' ? { fault: `“${value}” is not a label. Write it as key=value.` } : { value };
        }}
        change={(value) => say({ ...value, ...listed })}
      />
      <ParsedField label="Only these peers" hint="Names, separated by spaces." {...names('peers')} />
      <ParsedField label="Except these peers" {...names('notPeers')} />
      {mustBeSaid && (
        <label class="check">
          <input
            type="checkbox"
            checked={isEveryPeer}
            onChange={({ currentTarget }) => change(currentTarget.checked ? {} : undefined)}
          />
          Every peer
        </label>
      )}
      <PartFaults at={at} />
    </div>
  );
}
