import { route, setQuery } from '../route/route.ts';

/** One of a few ways to see something; which one stands in the address. */
export function Tabs({
  label,
  name,
  options,
}: {
  label: string;
  /** Of the field in the address. */
  name: string;
  options: readonly (readonly [value: string, text: string])[];
}) {
  const chosen = chosenTab(name, options);
  return (
    <fieldset class="row tabs">
      <legend class="visually-hidden">{label}</legend>
      {options.map(([value, text]) => (
        <button key={value} type="button" aria-pressed={value === chosen} onClick={() => setQuery({ [name]: value })}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}

/** The one that the address names, else the first. */
export function chosenTab(name: string, options: readonly (readonly [value: string, text: string])[]): string {
  const asked = route.value.query.get(name);
  const found = options.find(([value]) => value === asked) ?? options[0];
  return found?.[0] ?? '';
}
