import { useSignal } from '@preact/signals';
import { api } from '../../api/client.ts';
import { write } from '../../api/write.ts';
import { policies as words } from '../../texts/policies.ts';
import { texts } from '../../texts/texts.ts';
import { useAct } from '../../ui/act.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { portsOf } from './ports-text.ts';

/** Says what must stay true: who reaches whom, or never does. */
export function NewTest({ close }: { close: () => void }) {
  const name = useSignal('');
  const src = useSignal('');
  const dst = useSignal('');
  const expect = useSignal<string>('unreachable');
  const ports = useSignal('');
  const { isActing, problem, act } = useAct();
  const read = portsOf(ports.value);
  const isWrong = typeof read === 'string' || read.length > 1;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isWrong) return;
    const body = {
      name: name.value.trim(),
      src: src.value.trim(),
      dst: dst.value.trim(),
      expect: expect.value === 'reachable' ? ('reachable' as const) : ('unreachable' as const),
      ...portFields(read[0]),
    };
    const create = () => write(api.POST('/api/v1/assertions', { body }), words.testCreated(body.name));
    if (await act(create)) close();
  };
  return (
    <Dialog title={words.newTest} close={close}>
      <form class="stack" onSubmit={submit}>
        <TextField label={words.name} value={name} required autocomplete="off" />
        <TextField label={words.src} hint={words.srcHint} value={src} required autocomplete="off" />
        <SelectField label={words.expect} value={expect} options={Object.entries(words.expects)} />
        <TextField label={words.dst} hint={words.srcHint} value={dst} required autocomplete="off" />
        <TextField label={words.testPorts} hint={words.testPortsHint} value={ports} autocomplete="off" />
        {isWrong && <p class="fault">{words.testPortsWrong}</p>}
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class="primary" disabled={isActing.value || isWrong}>
            {words.createTest}
          </button>
          <button type="button" class="quiet" onClick={close}>
            {texts.common.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** A port alone is one of TCP. */
function portFields(entry: Exclude<ReturnType<typeof portsOf>, string>[number] | undefined) {
  if (!entry) return {};
  return entry.port === undefined ? entry : { protocol: 'TCP' as const, ...entry };
}
