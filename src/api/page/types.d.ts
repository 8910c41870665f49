/** What may stand inside of an element: a list is taken apart, nothing is left out. (JSDoc cannot say a type that holds itself.) */
export type Child = Node | string | number | null | undefined | false | readonly Child[];
