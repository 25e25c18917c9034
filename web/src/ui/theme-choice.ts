export type Theme = 'system' | 'light' | 'dark';

export const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const KEY = 'mesh.theme';

/** The theme that this browser keeps. */
export function keptTheme(): Theme {
  return THEMES.find((name) => name === localStorage.getItem(KEY)) ?? 'system';
}

export function keepTheme(name: Theme): void {
  localStorage.setItem(KEY, name);
  showTheme(name);
}

function showTheme(name: Theme): void {
  if (name === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = name;
}

// The documentation reads this module alone.
showTheme(keptTheme());
