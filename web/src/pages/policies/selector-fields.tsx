import type { Selector } from '../../api/types.ts';
import { policies as words } from '../../texts/policies.ts';
import { ParsedField } from './parsed-field.tsx';
import { labelsOf, labelsText, namesOf } from './selector-text.ts';

/** Which peers are meant: by labels, by name, and which are left out. */
export function SelectorFields({ selector, change }: { selector: Selector; change: (next: Selector) => void }) {
  const { matchLabels, matchExpressions, peers, notPeers } = selector;
  const labels = { ...(matchLabels && { matchLabels }), ...(matchExpressions && { matchExpressions }) };
  const listed = { ...(peers && { peers }), ...(notPeers && { notPeers }) };
  const names = (field: 'peers' | 'notPeers') => ({
    value: selector[field] ?? [],
    text: (value: readonly string[]) => value.join(' '),
    read: (text: string) => ({ value: namesOf(text) }),
    change: (value: string[]) => {
      const { [field]: _, ...others } = listed;
      change({ ...labels, ...others, ...(value.length > 0 && { [field]: value }) });
    },
  });
  return (
    <div class="selector">
      <ParsedField
        label={words.labelsField}
        hint={words.labelsHint}
        value={labels}
        text={labelsText}
        read={(text) => {
          const value = labelsOf(text);
          return typeof value === 'string' ? { fault: words.labelsWrong(value) } : { value };
        }}
        change={(value) => change({ ...value, ...listed })}
      />
      <ParsedField label={words.namesField} hint={words.namesHint} {...names('peers')} />
      <ParsedField label={words.exceptField} {...names('notPeers')} />
    </div>
  );
}
