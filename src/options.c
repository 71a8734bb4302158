/* Options: to come with main. */
typedef int options_empty;
