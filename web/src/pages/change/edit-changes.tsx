import { useSignal } from '@preact/signals';
import { dump } from 'js-yaml';
import type { TypedChange } from '../../api/types.ts';
import { change as words } from '../../texts/change.ts';
import { YamlEditor } from '../../ui/yaml-editor.tsx';
import { changesOf } from './typed-changes.ts';

/** The typed changes of a plan as YAML, to be changed and planned again. */
export function EditChanges({
  changes,
  plan,
}: {
  changes: readonly TypedChange[];
  plan: (changes: readonly TypedChange[]) => void;
}) {
  const text = useSignal(dump(changes, { lineWidth: -1, noRefs: true }));
  const fault = useSignal('');
  const submit = (event: Event) => {
    event.preventDefault();
    const read = changesOf(text.value);
    fault.value = typeof read === 'string' ? read : '';
    if (typeof read !== 'string') plan(read);
  };
  return (
    <form class="stack" onSubmit={submit}>
      <p class="dim">{words.editWhy}</p>
      <YamlEditor label={words.editLabel} value={text} />
      {fault.value !== '' && (
        <p class="notice danger break" role="alert">
          {fault.value}
        </p>
      )}
      <div class="row">
        <button type="submit">{words.editPlan}</button>
      </div>
    </form>
  );
}
